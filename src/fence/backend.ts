import fs from 'node:fs';
import { loadSyscalls, type Syscalls } from './syscalls.ts';

/** The backends, from the strongest to the weakest. The first two hold against any race; `portable` is best effort. */
export const BACKEND_NAMES = ['openat2', 'procfd', 'portable'] as const;

/** The name of a backend. */
export type BackendName = (typeof BACKEND_NAMES)[number];

/** How a root reaches its files. `chooseBackend` makes one; a program may open any number of roots with it. */
export interface Backend {
  readonly name: BackendName;
  /** The system calls of the `openat2` backend; undefined with the other two. @internal */
  readonly syscalls: Syscalls | undefined;
}

/**
 * Chooses the strongest backend that works on this machine, or `forced`. Throws a plain `Error` if `forced` does not
 * work here.
 */
export function chooseBackend(forced?: BackendName): Backend {
  if (forced === 'portable') return { name: 'portable', syscalls: undefined };
  if (process.platform !== 'linux' || !fs.existsSync('/proc/self/fd')) {
    if (forced !== undefined) throw new Error(`the ${forced} fence needs Linux with /proc`);
    return { name: 'portable', syscalls: undefined };
  }
  if (forced === 'procfd') return { name: 'procfd', syscalls: undefined };
  const syscalls = loadSyscalls();
  if (syscalls !== undefined) return { name: 'openat2', syscalls };
  if (forced === 'openat2') throw new Error('the openat2 fence needs Linux 5.6 or newer and the koffi package');
  return { name: 'procfd', syscalls: undefined };
}
