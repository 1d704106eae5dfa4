import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { isReservedName, reservedName } from './caller-path.ts';

/** What a directory knows about the owners of its temporary entries. A `Dir` is one. */
interface OwnedDir {
  readonly canMarkInUse: boolean;
  isInUse(name: string): boolean | undefined;
  isLocal(): boolean;
  lstat(name: string): { readonly mtimeMs: number } | undefined;
}

/**
 * Makes a name for a temporary file or folder. It is never listed, and names the process that made it: the boot of the
 * machine, the PID namespace, the pid and when that process started. With the directory that it is for, it also tells
 * whether the entry will be marked as in use (`Dir.createInUse`, `Dir.markInUse`), so that processes which cannot see
 * the owner can decide, too.
 */
export function temporaryName(dir?: Pick<OwnedDir, 'canMarkInUse'>): string {
  const marked = dir?.canMarkInUse === true ? MARKED : UNMARKED;
  return reservedName(`${self().prefix}${marked}-${self().pidAndStart}-${randomUUID().slice(-12)}`);
}

const HELD = '-held-';
/** What fits into a name beside the rest, in bytes, on all usual file systems. */
const MAX_HELD_BYTES = 150;

/**
 * Makes a temporary name for an entry that has to get its own name back if this process is killed, because nothing else
 * has its content yet. The end of a very long name is lost.
 */
export function heldName(name: string): string {
  const letters = [...name];
  while (Buffer.byteLength(letters.join('')) > MAX_HELD_BYTES) letters.pop();
  return temporaryName() + HELD + letters.join('');
}

/** Returns the own name of an entry whose name `heldName` has made; undefined for any other name. */
export function nameOfHeld(name: string): string | undefined {
  const at = isTemporaryName(name) ? name.indexOf(HELD) : -1;
  return at === -1 ? undefined : name.slice(at + HELD.length) || undefined;
}

const FILE_LENGTH = 16;
/** How a name ends that `leasedName` has made: with a digest of the name of the file, and the token. */
const LEASE = /-lease-([\da-f]{16})-(\d+)$/;

/**
 * Makes a temporary name for the new content of a file by the holder of a lease on it, which says for which file and
 * with which fencing token. Whoever holds the lease next removes what others have left.
 */
export function leasedName(dir: Pick<OwnedDir, 'canMarkInUse'>, file: string, token: number): string {
  return `${temporaryName(dir)}-lease-${digest(file).slice(0, FILE_LENGTH)}-${token}`;
}

/**
 * Reports whether a name is one that `leasedName` made for a file with another token than this one. Which of two tokens
 * is larger does not tell which holder is older if the store has failed over to a machine whose clock is behind.
 */
export function isOfOtherLease(name: string, file: string, token: number): boolean {
  const found = leaseIn(name);
  return found !== undefined && found.file === digest(file).slice(0, FILE_LENGTH) && found.token !== token;
}

function leaseIn(name: string): { readonly file: string; readonly token: number } | undefined {
  // A held name ends with a name that a caller has chosen.
  if (!isTemporaryName(name) || name.includes(HELD)) return undefined;
  const [, file, token] = LEASE.exec(name) ?? [];
  return file === undefined ? undefined : { file, token: Number(token) };
}

/** Reports whether a name is one that only temporary files and folders have. */
export const isTemporaryName: (name: string) => boolean = isReservedName;

const APPEND_JOURNAL = reservedName('append-');

/** Makes the name of the file that notes an append to the file with this inode number while it lasts. */
export function appendJournalName(ino: number): string {
  return APPEND_JOURNAL + ino;
}

/** Reports whether a name is one that `appendJournalName` makes. */
export function isAppendJournalName(name: string): boolean {
  return name.startsWith(APPEND_JOURNAL);
}

/** What is known about the process that a temporary name names. */
export type OwnerState = 'running' | 'gone' | 'unknown';

/**
 * Reports whether the process that a temporary name names is still running. Nothing here depends on a clock that can be
 * set, nor is another process with a reused pid taken for it. Unknown if it is a process of another container or
 * another machine, or was one of this machine before it was started again. A malformed name has no owner.
 */
export function ownerState(name: string): OwnerState {
  const { boot, namespace, pid, start } = parse(name);
  if (boot + namespace !== self().prefix) return 'unknown';
  return isRunning(pid, start) ? 'running' : 'gone';
}

/**
 * Reports whether a temporary entry was left behind by a process that is gone. Of a process that cannot be seen from
 * here, that is certain in two cases, if the file system is not shared with other machines: the entry would be marked
 * as in use, or the machine was started since. Otherwise the entry counts as in use. One that was made under a lease
 * counts as left behind a day after the lease was granted: the lease has ended, so nobody may rename the entry any
 * more.
 *
 * `owner` is the temporary name of the process, if the entry has another name. A name of another form is that of
 * another version of this program, and counts as left behind after a day.
 */
export function isLeftover(dir: OwnedDir, name: string, owner = name): boolean {
  if (!isTemporaryName(owner)) return false;
  const state = ownerState(owner);
  if (state !== 'unknown') return state === 'gone';
  const { boot, marked, wellFormed } = parse(owner);
  if (!wellFormed) return Date.now() - (dir.lstat(name)?.mtimeMs ?? Date.now()) > DAY_MS;
  const lease = leaseIn(owner);
  if (lease !== undefined && Date.now() - lease.token / 1000 > DAY_MS) return true;
  // Another machine has another boot, too, but shares no local file system with this one. On a shared one, neither does
  // a mark reach every container of this machine, which may have mounted it on its own.
  if (!dir.isLocal()) return false;
  return self().prefix.slice(0, BOOT_LENGTH) === boot ? marked && dir.isInUse(name) === false : true;
}

const DAY_MS = 86_400_000;
const MARKED = 'm';
const UNMARKED = 'u';
const BOOT_LENGTH = 8;
const NAMESPACE_LENGTH = 4;

function parse(name: string) {
  const [where = '', pid, start] = name.slice(reservedName('').length).split('-');
  return {
    boot: where.slice(0, BOOT_LENGTH),
    namespace: where.slice(BOOT_LENGTH, BOOT_LENGTH + NAMESPACE_LENGTH),
    marked: where.endsWith(MARKED),
    wellFormed: where.length === BOOT_LENGTH + NAMESPACE_LENGTH + 1,
    pid: Number(pid),
    start,
  };
}

function isRunning(pid: number, start: string | undefined): boolean {
  if (pid !== (pid | 0) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const started = startOf(pid);
  return started === undefined || started === start;
}

/**
 * Computed once: a process keeps its number, its start and its PID namespace, and ends before its machine is started
 * again.
 */
let known: { readonly prefix: string; readonly pidAndStart: string } | undefined;

function self() {
  known ??= {
    prefix: digest(bootId()).slice(0, BOOT_LENGTH) + digest(pidNamespace()).slice(0, NAMESPACE_LENGTH),
    pidAndStart: `${process.pid}-${startOf(process.pid) ?? 0}`,
  };
  return known;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Returns what is the same for all processes of one running kernel and for no others. Elsewhere the host name has to
 * do.
 */
function bootId(): string {
  return orElse(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'), os.hostname());
}

/** Returns what is the same for processes that see each other's pids. Only Linux has several such groups. */
function pidNamespace(): string {
  return orElse(() => fs.readlinkSync('/proc/self/ns/pid'), '');
}

/**
 * Returns when a process started, in clock ticks since the boot, or a text that no process has if it has ended and only
 * its parent has not noticed. Undefined if that cannot be seen: on other systems, or if /proc shows another PID
 * namespace or hides the process.
 */
function startOf(pid: number): string | undefined {
  return orElse(() => {
    if (fs.readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the state is the third field, the start the 22nd. The second, in brackets, may contain
    // anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : fields[19];
  }, undefined);
}

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
