import fs from 'node:fs';

/** Clock ticks per second of `/proc`, which is 100 on all common systems. */
const TICKS = 100;

/** Returns the processor time that a process has used so far, all threads together, in seconds. */
export function processorTime(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields 14 and 15, counted after the name, which may contain anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
