import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { isReserved, reservedName } from './caller-path.ts';

const DAY_MS = 86_400_000;

/** Tells this run of this process from an earlier one that had the same pid. */
const INSTANCE = randomBytes(4).toString('hex');
/** Tells machines and containers apart that share a folder: elsewhere the same pid is another process. */
const PLACE = createHash('sha256').update(`${os.hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8);

/** A name for a temporary file or folder that is never listed and says whose it is. */
export function temporaryName(): string {
  return reservedName([PLACE, process.pid, INSTANCE, randomBytes(6).toString('hex')].join('-'));
}

/** Whether a temporary entry was left by a process that is gone. Another machine's count only after a day. */
export function isLeftover(name: string, modifiedMs: number): boolean {
  if (!isReserved(name)) return false;
  const [place, pid, instance] = name.slice(reservedName('').length).split('-');
  if (place !== PLACE) return Date.now() - modifiedMs > DAY_MS;
  if (Number(pid) === process.pid) return instance !== INSTANCE;
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

function pidNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has these; elsewhere the host name has to do.
    return '';
  }
}
