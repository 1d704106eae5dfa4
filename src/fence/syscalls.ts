import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { LibraryHandle } from 'koffi';
import type { Entry, EntryType } from './dir.ts';
import { decodeName } from './entry-name.ts';

/**
 * The system calls that Node does not offer, through koffi. They say whether it worked, not why it did not. Whatever openat2
 * refuses needs another look in any case: EXDEV may be an absolute link that stays inside, and EAGAIN only means that
 * something was renamed somewhere on the machine while a `..` was resolved. So the reason always comes from one place,
 * the same attempt in a way that Node reports.
 */
export interface Syscalls {
  /** Opens beneath a directory descriptor; the kernel refuses whatever would leave it. Undefined if it did not open. */
  openat2(dirFd: number, path: string, flags: number): number | undefined;
  /** Opens one name in a directory. Without `O_NOFOLLOW` among the flags it would not confine. Undefined if it did not open. */
  openatUnconfined(dirFd: number, name: string | Buffer, flags: number): number | undefined;
  /** `renameat2(RENAME_NOREPLACE)`: false if nothing was renamed. */
  renameNoReplaceUnconfined(fromFd: number, from: string | Buffer, toFd: number, to: string | Buffer): boolean;
  /** `renameat2(RENAME_EXCHANGE)` within a directory: false if nothing changed places. */
  exchangeUnconfined(dirFd: number, name: string | Buffer, other: string | Buffer): boolean;
  /** What an entry is, a link itself for a link; undefined if that was not to be had. Half the cost of Node's own lstat. */
  statxUnconfined(dirFd: number, name: string): StatLite | undefined;
  /** What an open file is; undefined if that was not to be had. */
  fstatx(fd: number): StatLite | undefined;
  /** The next entries of an open directory, without `.` and `..`; none at the end, undefined if it could not be read. */
  getdents(fd: number): RawEntry[] | undefined;
  /** Reads on into the beginning of a buffer. How many bytes that were; less than 0 if it did not work. */
  read(fd: number, into: Buffer, length: number): number;
  /** Closes a descriptor that was opened here. */
  close(fd: number): void;
  /** Memory that begins with a page. The kernel copies into it up to four times as fast as into what begins elsewhere. */
  allocatePageAligned(bytes: number): Buffer;
}

/** An entry as a directory holds it, of no type on filesystems that do not note that there. */
export type RawEntry = Entry | (Omit<Entry, 'type'> & { readonly type: undefined });

/** What a listing shows of an entry. */
export interface StatLite {
  readonly type: EntryType;
  readonly size: number;
  readonly mtimeMs: number;
}

const OPENAT2 = 437;
const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const STATX: Readonly<Record<string, number>> = { x64: 332, arm64: 291 };
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_NO_AUTOMOUNT = 0x800;
const AT_EMPTY_PATH = 0x1000;
const STATX_BASIC = 0x7ff;
const STATX_BYTES = 256;
const GETDENTS64: Readonly<Record<string, number>> = { x64: 217, arm64: 61 };
/** Read at once: some thousand entries, so that whoever lists a huge directory can pause in between. */
const GETDENTS_BYTES = 64 * 1024;
const PAGE = 4096;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_BENEATH = 0x08n;
const O_CLOEXEC = 0o2000000;

/** Loads koffi and tries the calls once. Undefined where any of that is missing, also in a sandbox that forbids them. */
export function loadSyscalls(): Syscalls | undefined {
  const renameat2 = RENAMEAT2[process.arch];
  if (process.platform !== 'linux' || renameat2 === undefined) return undefined;
  try {
    const syscalls = bind(renameat2);
    const proc = fs.openSync('/proc/self', fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    const probe = syscalls.openat2(proc, 'fd', fs.constants.O_RDONLY);
    fs.closeSync(proc);
    if (probe === undefined) return undefined;
    fs.closeSync(probe);
    return syscalls;
  } catch {
    // No koffi for this platform: the pure-Node backend takes over, as it does without openat2.
    return undefined;
  }
}

function bind(renameat2: number): Syscalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const libc = koffi.load(null);
  const open = libc.func('long syscall(long number, int dirfd, const char *path, const void *how, size_t size)');
  const rename = libc.func(
    'long syscall(long number, int fromfd, const void *from, int tofd, const void *to, unsigned int flags)',
  );
  const stat = statxOf(libc);
  const openName = libc.func('int openat(int dirfd, const char *name, int flags)');
  const openBytes = libc.func('int openat(int dirfd, const void *name, int flags)');
  const entries = libc.func('long syscall(long number, int fd, void *into, size_t size)');
  const readOn = libc.func('long read(int fd, void *into, size_t size)');
  const closeFd = libc.func('int close(int fd)');
  const how = Buffer.alloc(24);
  const status = new Uint32Array(STATX_BYTES / 4);
  const listing = Buffer.alloc(GETDENTS_BYTES);
  how.writeBigUInt64LE(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, 16);

  const look = (fd: number, name: string, flags: number): StatLite | undefined =>
    stat(fd, name, flags, STATX_BASIC, status) === 0 ? toStatLite(status) : undefined;
  const succeeds = (...call: [number, Buffer, number, Buffer, number]): boolean =>
    Number(rename(renameat2, ...call)) === 0;

  return {
    openat2(dirFd, path, flags) {
      how.writeUInt32LE(flags | O_CLOEXEC, 0);
      const fd = Number(open(OPENAT2, dirFd, path, how, how.length));
      return fd >= 0 ? fd : undefined;
    },
    renameNoReplaceUnconfined: (fromFd, from, toFd, to) =>
      succeeds(fromFd, cString(from), toFd, cString(to), RENAME_NOREPLACE),
    openatUnconfined(dirFd, name, flags) {
      const all = flags | O_CLOEXEC;
      const fd = typeof name === 'string' ? openName(dirFd, name, all) : openBytes(dirFd, cString(name), all);
      return fd >= 0 ? fd : undefined;
    },
    statxUnconfined: (dirFd, name) => look(dirFd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT),
    fstatx: (fd) => look(fd, '', AT_EMPTY_PATH),
    getdents(fd) {
      for (;;) {
        const length = Number(entries(GETDENTS64[process.arch] ?? 0, fd, listing, listing.length));
        if (length < 0) return undefined;
        const found = dirEntries(listing, length);
        // A signal ends a read early, perhaps just after `.` and `..`.
        if (length === 0 || found.length > 0) return found;
      }
    },
    read: (fd, into, length) => Number(readOn(fd, into, length)),
    close(fd) {
      closeFd(fd);
    },
    allocatePageAligned(bytes) {
      const memory = Buffer.allocUnsafeSlow(bytes + PAGE);
      const past = Number(BigInt(koffi.address(memory)) % BigInt(PAGE));
      return memory.subarray(PAGE - past, PAGE - past + bytes);
    },
    exchangeUnconfined: (dirFd, name, other) => succeeds(dirFd, cString(name), dirFd, cString(other), RENAME_EXCHANGE),
  };
}

function cString(name: string | Buffer): Buffer {
  return Buffer.concat([typeof name === 'string' ? Buffer.from(name) : name, Buffer.alloc(1)]);
}

/** A system library that is too old to know statx by name can still be asked for it by number, which takes longer. */
function statxOf(libc: LibraryHandle): (...call: [number, string, number, number, Uint32Array]) => number {
  try {
    return libc.func('int statx(int dirfd, const char *path, int flags, unsigned int mask, void *into)');
  } catch {
    const call = libc.func(
      'long syscall(long number, int dirfd, const char *path, int flags, unsigned int mask, void *into)',
    );
    const number = STATX[process.arch] ?? 0;
    return (...rest) => Number(call(number, ...rest));
  }
}

const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const S_IFDIR = 0o040000;
const S_IFLNK = 0o120000;

/** Takes a `struct statx` apart, in words of four bytes: mode in the 7th, size in the 10th and 11th, mtime from the 28th on. */
function toStatLite(status: Uint32Array): StatLite {
  const word = (at: number): number => status[at] as number;
  return {
    type: typeOfMode(word(7) & S_IFMT),
    // A small number takes no memory of its own, unless it was a large one on the way.
    size: word(11) === 0 ? word(10) : word(10) + word(11) * 2 ** 32,
    // The upper half of the seconds has the sign.
    mtimeMs: (word(28) + (word(29) | 0) * 2 ** 32) * 1000 + word(30) / 1e6,
  };
}

function typeOfMode(format: number): EntryType {
  if (format === S_IFREG) return 'file';
  if (format === S_IFDIR) return 'directory';
  return format === S_IFLNK ? 'symlink' : 'other';
}

const DIRENT_TYPES: Readonly<Record<number, EntryType>> = { 4: 'directory', 8: 'file', 10: 'symlink' };
const DT_UNKNOWN = 0;
const DOT = 0x2e;

/** Takes a row of `struct linux_dirent64` apart: length of the record at 16, type at 18, name and a NUL from 19 on. */
function dirEntries(records: Buffer, length: number): RawEntry[] {
  const found: RawEntry[] = [];
  for (let at = 0; at < length; at += records.readUInt16LE(at + 16)) {
    const start = at + 19;
    let end = start;
    let all = 0;
    for (let byte = records[end] as number; byte !== 0; byte = records[++end] as number) all |= byte;
    if (isDots(records, start, end)) continue;
    const noted = records[at + 18] as number;
    const type = noted === DT_UNKNOWN ? undefined : (DIRENT_TYPES[noted] ?? 'other');
    if (all < 0x80) {
      const name = records.toString('latin1', start, end);
      found.push({ name, raw: name, type });
    } else {
      const raw = decodeName(Buffer.from(records.subarray(start, end)));
      found.push({ name: raw.toString(), raw, type });
    }
  }
  return found;
}

function isDots(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== DOT) return false;
  return end === start + 1 || (end === start + 2 && bytes[start + 1] === DOT);
}
