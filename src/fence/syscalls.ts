import fs from 'node:fs';
import { loadKoffi, type NativeLibrary } from '../runtime/koffi.ts';
import { decodeName, type Entry, type EntryType } from './entry.ts';

/**
 * The Linux system calls that Node does not offer, made through koffi. They report success, not the reason of a
 * failure: after openat2(2) refuses a path the caller has to try again in any case (EXDEV may be an absolute link that
 * stays inside, EAGAIN only means that something was renamed while a `..` was resolved), and it does so through Node,
 * which reports the reason.
 *
 * Calls that take a name and could leave a directory by themselves end in `Unconfined`; whoever calls one says in a
 * `SAFETY` comment why it cannot.
 */
export interface Syscalls {
  /**
   * Opens a path beneath a directory. The kernel refuses whatever would leave it (`RESOLVE_BENEATH`) and, unless
   * `follow` is set, any link (`RESOLVE_NO_SYMLINKS`), so that the names of the path are where the entry is. Undefined
   * on failure.
   */
  openat2(dirFd: number, path: string, flags: number, follow: boolean): number | undefined;
  /** openat(2): opens a name in a directory, through a link unless `flags` have `O_NOFOLLOW`. Undefined on failure. */
  openatUnconfined(dirFd: number, name: string | Buffer, flags: number): number | undefined;
  /** Calls renameat2(2) with `RENAME_NOREPLACE`, and reports whether it renamed. */
  renameNoReplaceUnconfined(fromFd: number, from: string | Buffer, toFd: number, to: string | Buffer): boolean;
  /** Calls renameat2(2) with `RENAME_EXCHANGE` within a directory, and reports whether it exchanged. */
  exchangeUnconfined(dirFd: number, name: string | Buffer, other: string | Buffer): boolean;
  /**
   * flock(2) of an open file or directory, exclusive and without waiting. Undefined where the file system has no such
   * locks.
   */
  flock(fd: number): 'held' | 'busy' | undefined;
  /** syncfs(2) of the file system that an open file is on, on libuv's thread pool. Failures are ignored. */
  syncfs(fd: number): Promise<void>;
  /**
   * Marks an open file or directory as in use until this descriptor is closed, which the end of the process does, too:
   * an open file description lock for reading (https://man7.org/linux/man-pages/man2/F_OFD_SETLK.2const.html). It keeps
   * nobody out. A file system without such locks is not an error.
   */
  markInUse(fd: number): void;
  /**
   * Reports whether any process has marked an open file or directory as in use. Undefined where the file system has no
   * such locks.
   */
  isInUse(fd: number): boolean | undefined;
  /** statx(2) of an entry, of a link itself for a link. Undefined on failure. Takes half the time of Node's lstat. */
  statxUnconfined(dirFd: number, name: string): StatLite | undefined;
  /**
   * utimensat(2): sets the time of the last modification of an entry, of a link itself for a link, in nanoseconds since
   * 1970, and leaves that of the last access. Reports whether it did.
   */
  setMtimeUnconfined(dirFd: number, name: string | Buffer, mtimeNs: bigint): boolean;
  /** Reports whether a directory has no entry of that name, by statx(2). False on any other failure, too. */
  isMissingUnconfined(dirFd: number, name: string): boolean;
  /** statx(2) of an open file. Undefined on failure. */
  fstatx(fd: number): StatLite | undefined;
  /**
   * getdents64(2): the next entries of an open directory without `.` and `..`, none at its end. Undefined on failure.
   */
  getdents(fd: number): RawEntry[] | undefined;
  /** read(2) into the beginning of a buffer. Returns the number of bytes, or a negative number on failure. */
  read(fd: number, into: Buffer, length: number): number;
  /** close(2), for a descriptor that one of these calls opened. */
  close(fd: number): void;
  /** Allocates memory that begins with a page, into which the kernel copies up to four times as fast as elsewhere. */
  allocatePageAligned(bytes: number): Buffer;
}

/** An entry as a directory stores it. The type is undefined on file systems that do not store it there. */
export type RawEntry = Entry | (Omit<Entry, 'type'> & { readonly type: undefined });

/** The part of a file's status that a listing shows. */
export interface StatLite {
  /** The kind of the entry itself, not of what a link leads to. */
  readonly type: EntryType;
  /** In bytes. */
  readonly size: number;
  /** The time of the last modification, in milliseconds since 1970. */
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
/** One read of a directory: about two thousand entries, so that the caller can yield between reads of a huge one. */
const GETDENTS_BYTES = 64 * 1024;
const PAGE = 4096;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_NO_SYMLINKS = 0x04n;
const RESOLVE_BENEATH = 0x08n;
const O_CLOEXEC = 0o2000000;
const LOCK_EX = 2;
const LOCK_NB = 4;
const EAGAIN = 11;
const ENOENT = 2;
const F_OFD_GETLK = 36;
const F_OFD_SETLK = 37;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FLOCK_BYTES = 32;
/** A number of nanoseconds that says to leave a time as it is. */
const UTIME_OMIT = 0x3ffffffen;
const SECOND_NS = 1_000_000_000n;

/** Loads koffi and tries openat2 once. Undefined where either is missing, or a sandbox forbids the call. */
export function loadSyscalls(): Syscalls | undefined {
  const renameat2 = RENAMEAT2[process.arch];
  if (process.platform !== 'linux' || renameat2 === undefined) return undefined;
  try {
    const syscalls = bind(renameat2);
    const proc = fs.openSync('/proc/self', fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    const probe = syscalls.openat2(proc, 'fd', fs.constants.O_RDONLY, true);
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
  const koffi = loadKoffi();
  const libc = koffi.load(null);
  const open = libc.func('long syscall(long number, int dirfd, const char *path, const void *how, size_t size)');
  const rename = libc.func(
    'long syscall(long number, int fromfd, const void *from, int tofd, const void *to, unsigned int flags)',
  );
  const stat = statxOf(libc);
  const openName = libc.func('int openat(int dirfd, const char *name, int flags)');
  const openBytes = libc.func('int openat(int dirfd, const void *name, int flags)');
  const entries = libc.func('long syscall(long number, int fd, void *into, size_t size)');
  const readFd = libc.func('long read(int fd, void *into, size_t size)');
  const closeFd = libc.func('int close(int fd)');
  const lock = libc.func('int flock(int fd, int operation)');
  const syncFs = libc.func('int syncfs(int fd)');
  const control = libc.func('int fcntl(int fd, int command, void *lock)');
  // All zero is a lock for reading (F_RDLCK) of the whole file.
  const readLock = Buffer.alloc(FLOCK_BYTES);
  const conflict = Buffer.alloc(FLOCK_BYTES);
  const setTimes = libc.func('int utimensat(int dirfd, const void *name, const void *times, int flags)');
  // Two structs timespec: the times of the last access and the last modification.
  const times = new BigInt64Array([0n, UTIME_OMIT, 0n, 0n]);
  const following = Buffer.alloc(24);
  const linkless = Buffer.alloc(24);
  const status = new Uint32Array(STATX_BYTES / 4);
  const listing = Buffer.alloc(GETDENTS_BYTES);
  following.writeBigUInt64LE(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, 16);
  linkless.writeBigUInt64LE(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 16);

  const statx = (fd: number, name: string, flags: number): StatLite | undefined =>
    stat(fd, name, flags, STATX_BASIC, status) === 0 ? toStatLite(status) : undefined;
  const renameat2Succeeds = (...call: [number, Buffer, number, Buffer, number]): boolean =>
    Number(rename(renameat2, ...call)) === 0;

  return {
    openat2(dirFd, path, flags, follow) {
      const how = follow ? following : linkless;
      how.writeUInt32LE(flags | O_CLOEXEC, 0);
      const fd = Number(open(OPENAT2, dirFd, path, how, how.length));
      return fd >= 0 ? fd : undefined;
    },
    renameNoReplaceUnconfined: (fromFd, from, toFd, to) =>
      renameat2Succeeds(fromFd, cString(from), toFd, cString(to), RENAME_NOREPLACE),
    openatUnconfined(dirFd, name, flags) {
      const all = flags | O_CLOEXEC;
      const fd = typeof name === 'string' ? openName(dirFd, name, all) : openBytes(dirFd, cString(name), all);
      return fd >= 0 ? fd : undefined;
    },
    statxUnconfined: (dirFd, name) => statx(dirFd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT),
    isMissingUnconfined: (dirFd, name) =>
      stat(dirFd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, status) !== 0 && koffi.errno() === ENOENT,
    setMtimeUnconfined(dirFd, name, mtimeNs) {
      const nanoseconds = ((mtimeNs % SECOND_NS) + SECOND_NS) % SECOND_NS;
      times[2] = (mtimeNs - nanoseconds) / SECOND_NS;
      times[3] = nanoseconds;
      return setTimes(dirFd, cString(name), times, AT_SYMLINK_NOFOLLOW) === 0;
    },
    fstatx: (fd) => statx(fd, '', AT_EMPTY_PATH),
    getdents(fd) {
      for (;;) {
        const length = Number(entries(GETDENTS64[process.arch] ?? 0, fd, listing, listing.length));
        if (length < 0) return undefined;
        const found = dirEntries(listing, length);
        // A signal may end a read early, just after `.` and `..`.
        if (length === 0 || found.length > 0) return found;
      }
    },
    flock(fd) {
      if (lock(fd, LOCK_EX | LOCK_NB) === 0) return 'held';
      return koffi.errno() === EAGAIN ? 'busy' : undefined;
    },
    syncfs: (fd) => new Promise((resolve) => syncFs.async(fd, () => resolve())),
    markInUse(fd) {
      control(fd, F_OFD_SETLK, readLock);
    },
    isInUse(fd) {
      conflict.fill(0);
      conflict.writeInt16LE(F_WRLCK);
      return control(fd, F_OFD_GETLK, conflict) === 0 ? conflict.readInt16LE() !== F_UNLCK : undefined;
    },
    read: (fd, into, length) => Number(readFd(fd, into, length)),
    close(fd) {
      closeFd(fd);
    },
    allocatePageAligned(bytes) {
      const memory = Buffer.allocUnsafeSlow(bytes + PAGE);
      const misalignment = Number(BigInt(koffi.address(memory)) % BigInt(PAGE));
      return memory.subarray(PAGE - misalignment, PAGE - misalignment + bytes);
    },
    exchangeUnconfined: (dirFd, name, other) =>
      renameat2Succeeds(dirFd, cString(name), dirFd, cString(other), RENAME_EXCHANGE),
  };
}

function cString(name: string | Buffer): Buffer {
  return Buffer.concat([typeof name === 'string' ? Buffer.from(name) : name, Buffer.alloc(1)]);
}

/** Calls statx by its number where the C library is too old to have the function, which takes longer. */
function statxOf(libc: NativeLibrary): (...call: [number, string, number, number, Uint32Array]) => number {
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

/**
 * Decodes a `struct statx` as words of four bytes: the mode is in word 7, the size in 10 and 11, the mtime from 28 on.
 */
function toStatLite(status: Uint32Array): StatLite {
  const word = (at: number): number => status[at] as number;
  return {
    type: typeOfMode(word(7) & S_IFMT),
    // V8 stores a small integer without allocating, unless the expression has passed through a large one.
    size: word(11) === 0 ? word(10) : word(10) + word(11) * 2 ** 32,
    // The upper word of the seconds carries the sign.
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

/**
 * Decodes a row of `struct linux_dirent64`: the length of a record is at 16, the type at 18, the name from 19 to a NUL.
 */
function dirEntries(records: Buffer, length: number): RawEntry[] {
  const found: RawEntry[] = [];
  for (let at = 0; at < length; at += records.readUInt16LE(at + 16)) {
    const start = at + 19;
    let end = start;
    let bits = 0;
    for (let byte = records[end] as number; byte !== 0; byte = records[++end] as number) bits |= byte;
    if (isDots(records, start, end)) continue;
    const stored = records[at + 18] as number;
    const type = stored === DT_UNKNOWN ? undefined : (DIRENT_TYPES[stored] ?? 'other');
    if (bits < 0x80) {
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
