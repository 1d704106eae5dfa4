import { createHash, randomBytes } from 'node:crypto';
import fs, { type Stats } from 'node:fs';
import os from 'node:os';
import { isReservedName, reservedName } from './caller-path.ts';

const DAY_MS = 86_400_000;

/** Makes a name for a temporary file or folder. It is never listed, and names the process that made it. */
export function temporaryName(): string {
  return reservedName([hostTag(), process.pid, randomBytes(8).toString('hex')].join('-'));
}

/** Reports whether a name is one that only temporary files and folders have. */
export const isTemporaryName: (name: string) => boolean = isReservedName;

/**
 * Reports whether a temporary entry was left behind by a process that is gone. An entry with this process's own pid was left by an
 * earlier process if it is older than this one. Nothing is known about the processes of another machine, so its entries count as
 * left behind after a day.
 */
export function isLeftover(name: string, { ctimeMs, mtimeMs }: Pick<Stats, 'ctimeMs' | 'mtimeMs'>): boolean {
  if (!isTemporaryName(name)) return false;
  const [where, pid] = name.slice(reservedName('').length).split('-');
  if (where !== hostTag()) return Date.now() - mtimeMs > DAY_MS;
  if (Number(pid) === process.pid) return ctimeMs < Date.now() - process.uptime() * 1000;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Computed once: neither the host name nor the PID namespace is expected to change while the process lives. */
let known: string | undefined;

/** Returns a text that differs between machines and containers that share a folder, where the same pid is another process. */
function hostTag(): string {
  known ??= createHash('sha256').update(`${os.hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8);
  return known;
}

function pidNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has PID namespaces; elsewhere the host name has to do.
    return '';
  }
}
