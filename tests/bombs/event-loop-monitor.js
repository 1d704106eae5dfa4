// Loaded into a server with --import. On SIGWINCH, writes for how long its event loop was held at most since the last signal, as a
// log line: by the clock, and in time that the main thread really had, which does not depend on what else the machine does.
import fs from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const schedule = fs.openSync(`/proc/self/task/${process.pid}/schedstat`);
  const bytes = Buffer.alloc(100);
  const cpuMs = () => Number.parseInt(bytes.toString('latin1', 0, fs.readSync(schedule, bytes, 0, 100, 0)), 10) / 1e6;
  let last = cpuMs();
  let longest = 0;
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1).unref();
  const tenths = (ms) => Math.round(ms * 10) / 10;
  process.on('SIGWINCH', () => {
    const line = { msg: 'event loop', held_ms: tenths(delays.max / 1e6), held_cpu_ms: tenths(longest) };
    fs.writeSync(2, `${JSON.stringify(line)}\n`);
    delays.reset();
    longest = 0;
  });
}
