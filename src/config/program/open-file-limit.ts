import fs from 'node:fs';

/** Assumed where the limit is not known: the usual one of a login shell. */
const USUAL_LIMIT = 1_024;

/**
 * Returns how many files, sockets included, this process may have open
 * ({@link https://man7.org/linux/man-pages/man2/getrlimit.2.html RLIMIT_NOFILE}).
 */
export function openFileLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return soft === undefined ? USUAL_LIMIT : Number(soft);
  } catch {
    return USUAL_LIMIT;
  }
}
