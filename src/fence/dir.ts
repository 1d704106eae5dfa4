import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { type HostPath, isReservedName } from './caller-path.ts';
import { closeQuietly } from './close-quietly.ts';
import { decodeName, type Entry, entryTypeOf, type Name } from './entry.ts';
import { errnoOf, fromSystem } from './errno.ts';
import { FenceError, isFenceError } from './errors.ts';
import { otherSpellings } from './guard/fold-name.ts';
import { READ_ONLY, type Refusal } from './guard/guard.ts';
import type { RuleMatch } from './guard/path-rules.ts';
import type { Place, WrittenPath } from './guard/place.ts';
import { type OpenFile, type ReadableFile, wrapRegularFile } from './open-file.ts';
import type { StatLite } from './syscalls.ts';
import { temporaryName } from './temp-name.ts';

const { constants } = fs;
const openAsync = promisify(fs.open);
const fsyncAsync = promisify(fs.fsync);
const closeAsync = promisify(fs.close);

/**
 * The open(2) flags for a file of unknown kind: a FIFO must not block, a terminal must not become ours, no link is
 * followed.
 */
export const SAFE_OPEN_FLAGS = constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

/** The types that statfs(2) has for ext2 to ext4, xfs, btrfs, tmpfs, overlay, zfs, f2fs and bcachefs. */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/** A directory that is open in another thread of this process, where all threads share the descriptors. */
export interface SharedDir {
  readonly fd: number;
}

/** The flags of open(2) with which a file can be changed or made. */
const CHANGING_FLAGS =
  constants.O_WRONLY | constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_TRUNC;

/** What is about to happen to an entry: it is made or replaced, or it is changed or removed where it is. */
interface Change {
  readonly isFolder?: boolean;
  readonly put?: boolean;
}

/**
 * Proof that a folder may be moved with everything in it, which `checkTree` finds out: `Dir.rename` moves no folder
 * without one. Until it is disposed of, nothing in this process is put into the folder that may not be where it goes.
 */
export interface CheckedTree extends Disposable {
  readonly dev: number;
  readonly ino: number;
  /** How many entries the check has seen in the folder, at any depth. */
  readonly entries: number;
  readonly to: Dir;
  readonly toName: Name;
  /**
   * Checks the folder again after it was moved, where other rules hold there. Raises `not_allowed` if another process
   * has put something into it meanwhile that may not be there: then the folder has to be moved back.
   */
  confirm(): Promise<void>;
  /** Returns the proof for moving the folder out of the way again, if `confirm` has failed. */
  elsewhere(to: Dir, toName: Name): CheckedTree;
}

/** An entry that is held open. */
export interface HeldEntry extends Disposable {
  /** Stats it, whatever its names are by now. */
  stat(): fs.Stats;
}

/**
 * An open directory inside a root. Every method acts on entries of this very directory by a single name and never
 * follows a link in it, so a `Dir` that lies inside the root can only lead to what lies inside the root. A failed
 * system call is raised as the `FenceError` that its errno stands for, without path and root, which only the caller
 * knows. A name that is not a single name is a bug of the caller and throws a plain `Error`. Dispose of a `Dir` to
 * close it.
 *
 * The rules of the root hold in every method: a denied entry is missing for those that read (`not_found`, or undefined
 * where that means missing), and those that make, change or remove a denied or protected one raise `not_allowed`. Names
 * of temporary files are exempt, since callers cannot use them.
 */
export abstract class Dir implements Disposable {
  /** Where this directory is in its root, for the rules. */
  #place: Place;

  /** @internal */
  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Returns the host path of an entry, or of the directory itself for `.`. Resolving that path does not confine by
   * itself.
   */
  protected abstract pathUnconfined(name: Name): HostPath | Buffer;

  /**
   * Opens a subdirectory, or this directory once more for `.`, which is at that place. A link is `not_directory`.
   * @internal
   */
  protected abstract openInner(name: Name, place: Place): Dir;

  /**
   * Opens a subdirectory, or this directory once more for `.`. A link in its place is `not_directory`. A temporary
   * directory is opened `as` the name that it will have, so that the rules for that name hold in it.
   */
  openDir(name: Name, as: Name = name): Dir {
    this.assertSeen(name, true);
    return this.openInner(name, as === name ? this.placeOf(name) : this.#place.futureChild(as.toString()));
  }

  /** Opens a subdirectory that will be listed and read from, as cheaply as the backend can. */
  openDirForListing(name: Name): Dir {
    return this.openDir(name);
  }

  /**
   * Returns the host path of this directory, for comparing two of them. It may be out of date as soon as it is
   * returned.
   */
  abstract hostPath(): HostPath;

  /** Closes the directory. Further calls are ignored. */
  abstract [Symbol.dispose](): void;

  /**
   * Called before anything is changed or opened. The portable backend checks here that the directory is still inside.
   */
  protected assertInside(): void {}

  /** Reports whether this directory still has the names by which the rules judge it, from the top of the root. */
  protected isAt(_names: readonly string[]): boolean {
    return true;
  }

  /** Called with each file that `createInUse` creates. */
  protected markFileInUse(_fd: number): void {}

  /** Called with each opened file. The portable backend checks here that it opened what the name leads to. */
  protected assertOpened(_fd: number, _name: Name): void {}

  /**
   * Lists the entries in the order the system gives them. Temporary files and denied entries show only with
   * `includeHidden`.
   */
  list(includeHidden = false): Entry[] {
    return this.#call('.', (hostPath) => {
      const dirents = fs.readdirSync(hostPath, { withFileTypes: true });
      const entries = dirents.some((dirent) => dirent.name.includes('\ufffd'))
        ? listBytes(hostPath)
        : dirents.map((dirent) => ({ name: dirent.name, raw: dirent.name, type: entryTypeOf(dirent) }));
      return includeHidden ? entries : entries.filter((entry) => !this.isHidden(entry));
    });
  }

  /**
   * Lists the entries in batches as the system hands them out, so that the caller can yield while it lists a huge
   * directory.
   */
  *listBatches(includeHidden = false): Generator<Entry[], void, undefined> {
    yield this.list(includeHidden);
  }

  /** Stats an entry, a link itself for a link. Undefined if there is no such entry. */
  lstat(name: Name): fs.Stats | undefined {
    const stats = this.#lstat(name);
    return stats === undefined || this.denial(name, stats.isDirectory()) !== undefined ? undefined : stats;
  }

  #lstat(name: Name): fs.Stats | undefined {
    return this.#call(name, (hostPath) => {
      try {
        return fs.lstatSync(hostPath);
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  /** Reports whether there is an entry of that name, which takes less time than `lstat` if there is none. */
  has(name: Name): boolean {
    return this.#call(name, (hostPath) => fs.lstatSync(hostPath, { throwIfNoEntry: false }) !== undefined);
  }

  /**
   * Returns what another thread needs to stat entries while this is open; undefined if that would not be faster.
   * @internal
   */
  share(): SharedDir | undefined {
    return undefined;
  }

  /**
   * Stats an entry as `lstat` does, and returns the part that a listing shows, which takes half the time with
   * `openat2`.
   */
  statLite(name: Name): StatLite | undefined {
    const stats = this.lstat(name);
    return stats && { type: entryTypeOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
  }

  /** Reads where a link leads. A target that is not UTF-8 is `invalid_path`: as a string it would name another file. */
  readlink(name: Name): string {
    this.assertSeen(name, false);
    return this.#call(name, (hostPath) => {
      const target = fs.readlinkSync(hostPath, 'buffer');
      if (!isUtf8(target)) throw new FenceError('invalid_path', { problem: 'not_unicode' });
      return target.toString();
    });
  }

  /** Reads where a link leads, byte for byte, to make another just like it. */
  readlinkBytes(name: Name): Name {
    this.assertSeen(name, false);
    return this.#call(name, (hostPath) => decodeName(fs.readlinkSync(hostPath, 'buffer')));
  }

  /**
   * Opens a regular file with open(2) flags. A link is `link_loop`, a folder `is_directory`, anything else
   * `special_file`.
   */
  openFile(name: Name, flags: number = constants.O_RDONLY, mode = 0o644): OpenFile {
    return this.#open(name, flags, mode, false);
  }

  #open(name: Name, flags: number, mode: number, inUse: boolean): OpenFile {
    if ((flags & CHANGING_FLAGS) === 0) this.assertSeen(name);
    else this.assertMayChange(name, { isFolder: false, put: (flags & constants.O_CREAT) !== 0 });
    return this.#openChecked(name, flags, mode, inUse);
  }

  /** Opens a file about which the rules have been asked. */
  #openChecked(name: Name, flags: number, mode: number, inUse: boolean): OpenFile {
    return this.#call(name, (hostPath) => {
      const fd = fs.openSync(hostPath, flags | SAFE_OPEN_FLAGS, mode);
      try {
        this.assertOpened(fd, name);
        if (inUse) this.markFileInUse(fd);
        return wrapRegularFile(fd);
      } catch (error) {
        closeQuietly(fd);
        throw error;
      }
    });
  }

  /** Opens a regular file for reading alone, as cheaply as the backend can. */
  openForRead(name: Name): ReadableFile {
    return this.openFile(name);
  }

  /**
   * Reads a whole regular file into the beginning of a buffer and returns its size, if it is not empty and has at most
   * `limit` bytes. Returns undefined for any other file, for an error, and where the backend has no faster way; the
   * caller then opens the file, which reports the error.
   */
  readSmallFile(_name: Name, _into: Buffer, _limit: number): number | undefined {
    return undefined;
  }

  /** Opens an existing file to write at its end. */
  openForAppend(name: Name): OpenFile {
    return this.openFile(name, constants.O_WRONLY | constants.O_APPEND);
  }

  /** Opens an existing file to read and write. */
  openForUpdate(name: Name): OpenFile {
    return this.openFile(name, constants.O_RDWR);
  }

  /** Raises what writing to the file would raise (`permission_denied`, `read_only`, …), and writes nothing. */
  assertWritable(name: Name): void {
    this.#assertAllowed(name, { isFolder: false });
    try {
      this.#openChecked(name, constants.O_WRONLY, 0, false)[Symbol.dispose]();
    } catch (error) {
      // A running program cannot be written to, but it can be replaced.
      if (!(isFenceError(error, 'io_error') && error.details.errno === 'ETXTBSY')) throw error;
    }
  }

  /**
   * Raises what adding an entry to this directory, or removing one, would raise for all of them: `permission_denied`,
   * `read_only`.
   */
  assertChangeable(): void {
    this.#call('.', (hostPath) => fs.accessSync(hostPath, constants.W_OK | constants.X_OK));
  }

  /** Creates a file. One that exists is `already_exists`. */
  createFile(name: Name, mode = 0o644): OpenFile {
    return this.openFile(name, CREATE, mode);
  }

  /** Creates a file as `createFile` does, and marks it as in use until it is closed: see `markInUse`. */
  createInUse(name: Name, mode = 0o644): OpenFile {
    return this.#open(name, CREATE, mode, true);
  }

  /** Makes a subdirectory. Anything in its place is `already_exists`. */
  mkdir(name: Name, mode = 0o755): void {
    this.assertMayChange(name, { isFolder: true, put: true });
    this.#call(name, (hostPath) => fs.mkdirSync(hostPath, { mode }));
    this.#takeBackIfMoved(name, (hostPath) => fs.rmdirSync(hostPath));
  }

  /** Removes a file, or a link itself. */
  unlink(name: Name): void {
    this.assertMayChange(name, { isFolder: false });
    this.#call(name, (hostPath) => fs.unlinkSync(hostPath));
  }

  /** Removes an empty subdirectory. One that is not empty is `not_empty`. */
  rmdir(name: Name): void {
    this.assertMayChange(name, { isFolder: true });
    this.#call(name, (hostPath) => fs.rmdirSync(hostPath));
  }

  /**
   * Makes a symbolic link to `target`, which is stored as it is and not checked: following the link is what is
   * confined.
   */
  symlink(target: Name, name: Name): void {
    this.assertMayChange(name, { isFolder: false, put: true });
    this.#call(name, (hostPath) => fs.symlinkSync(target, hostPath));
    this.#takeBackIfMoved(name, (hostPath) => fs.unlinkSync(hostPath));
  }

  /**
   * Sets the mode of a subdirectory, or of this directory for `.`. chmod(2) follows links, so the directory is opened
   * first.
   */
  chmod(name: Name, mode: number): void {
    this.assertMayChange(name, { isFolder: true });
    using dir = this.openDir(name);
    dir.#call('.', (hostPath) => fs.chmodSync(hostPath, mode));
  }

  /** Returns the time of the last modification of an entry, of a link itself for a link, in nanoseconds since 1970. */
  mtimeNs(name: Name): bigint {
    this.assertSeen(name);
    return this.#call(name, (hostPath) => fs.lstatSync(hostPath, { bigint: true }).mtimeNs);
  }

  /**
   * Sets the time of the last modification of an entry, of a link itself for a link, in nanoseconds since 1970. To the
   * nanosecond with `openat2`, elsewhere to about a microsecond, since Node takes the time as a floating-point number.
   */
  setMtime(name: Name, mtimeNs: bigint): void {
    this.assertMayChange(name, {});
    this.#call(name, (hostPath) => {
      // Node cuts off what is less than a microsecond, so a little more rounds to the nearest.
      fs.lutimesSync(hostPath, fs.lstatSync(hostPath).atimeMs / 1000, Number(mtimeNs) / 1e9 + 0.5e-6);
    });
  }

  /**
   * Holds a file open while its entry is unlinked or replaced, so that disposing of the hold frees its blocks on
   * another thread (a third of a second per gigabyte), unless `freeLater` is off. Undefined if the backend cannot, or the entry is missing.
   */
  holdOpen(_name: Name, _options: { freeLater?: boolean } = {}): HeldEntry | undefined {
    return undefined;
  }

  /**
   * Reports whether the file system has the entry that this machine shows by a name, or knows it only from its cache.
   * True if the backend cannot tell.
   */
  isStored(_name: Name): boolean {
    return true;
  }

  /**
   * Moves an entry in one step, replacing a file, or an empty directory by a directory. In a root with rules, a
   * directory needs to be `checked` for the same destination, unless it is temporary.
   */
  rename(name: Name, to: Dir, toName: Name, checked?: CheckedTree): void {
    this.assertMayMove(name, to, toName, checked);
    this.#callOnPair(name, to, toName, (from, into) => fs.renameSync(from, into));
  }

  /** Moves an entry only if nothing is in the way, else raises `already_exists`. Never a check followed by a rename. */
  renameNoReplace(name: Name, to: Dir, toName: Name, checked?: CheckedTree): void {
    this.assertMayMove(name, to, toName, checked);
    this.#callOnPair(name, to, toName, (from, into) => {
      const isFolder = fs.lstatSync(from).isDirectory();
      if (!isFolder && linkIfPossible(from, into)) {
        fs.unlinkSync(from);
        return;
      }
      // An empty entry of our own reserves the name, and a rename may replace exactly that.
      if (isFolder) fs.mkdirSync(into, { mode: 0o700 });
      else closeQuietly(fs.openSync(into, CREATE, 0o600));
      try {
        fs.renameSync(from, into);
      } catch (error) {
        if (isFolder) fs.rmdirSync(into);
        else fs.unlinkSync(into);
        throw error;
      }
    });
  }

  /**
   * Gives a file, or a link itself, one more name, in this directory or another, and reports whether the system can;
   * otherwise nothing is done.
   */
  link(name: Name, other: Name, to: Dir = this): boolean {
    try {
      this.#callOnPair(name, to, other, (from, into) => fs.linkSync(from, into));
      return true;
    } catch {
      return false;
    }
  }

  /** Exchanges two entries in one step, and reports whether the system can; otherwise nothing is done. */
  exchange(_name: Name, _other: Name): boolean {
    return false;
  }

  /**
   * Tries to lock this directory with flock(2), until the result is disposed of. Undefined where the system cannot:
   * `lockFolder` has another way then.
   */
  flock(): Disposable | 'busy' | undefined {
    return undefined;
  }

  /** Whether this backend can mark entries as in use. */
  get canMarkInUse(): boolean {
    return false;
  }

  /**
   * Marks this directory as in use until the result is disposed of, or this process ends. Processes that cannot see
   * this one know by the mark that it is running: those of other containers on the same machine. It keeps nobody out.
   */
  markInUse(): Disposable | undefined {
    return undefined;
  }

  /** Reports whether an entry is marked as in use by a running process. Undefined where that cannot be known. */
  isInUse(_name: Name): boolean | undefined {
    return undefined;
  }

  /**
   * Reports whether this directory is on a file system that only this machine can have mounted. False where that cannot
   * be known.
   */
  isLocal(): boolean {
    return this.#call('.', (hostPath) => LOCAL_FILE_SYSTEMS.has(fs.statfsSync(hostPath).type));
  }

  /** Flushes the names in this directory to disk. A file system that cannot do that is not an error. */
  async sync(): Promise<void> {
    try {
      // SAFETY: `.` is this very directory.
      const fd = await openAsync(this.pathUnconfined('.'), constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        await fsyncAsync(fd);
      } finally {
        // The flush has reported what could fail.
        await closeAsync(fd).catch(() => {});
      }
    } catch (error) {
      if (!['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP'].includes(errnoOf(error) ?? '')) throw fromSystem(error);
    }
  }

  /**
   * Flushes the whole file system to disk where the system can. That is many times faster than file by file, but some
   * network file systems flush less than they do for a file.
   */
  async syncFilesystem(): Promise<void> {}

  /**
   * Raises `not_allowed` if the rules of the root forbid to put a file or link there, or a folder. Every method that
   * does so checks that itself, and that this directory has not been moved; this saves the work before.
   */
  assertMayPut(name: Name, isFolder = false): void {
    this.#assertAllowed(name, { isFolder, put: true });
  }

  /** Says which rule keeps an entry of a directory where it is, for a change to a folder above it. @internal */
  refusal(name: Name, change: Change): Refusal | undefined {
    if (this.#place.isReadOnly) return READ_ONLY;
    if (name === '.') return this.#place.ownProtection;
    const text = name.toString();
    if (isReservedName(text)) return undefined;
    const denial = this.denial(name, change.isFolder, change.put);
    if (denial !== undefined) return denial;
    const isFolder = change.isFolder ?? this.#lstat(name)?.isDirectory() ?? false;
    const match = this.#place.protection(text, isFolder) ?? (change.put && !isFolder && this.#place.placeholder(text));
    const pattern = match && this.#settle(match, name, change.put);
    if (pattern) return { rule: 'protect', pattern };
    return change.put ? this.#place.refusalByMoves(text, isFolder) : undefined;
  }

  /** Whether anything in the root is denied or protected. @internal */
  get hasRules(): boolean {
    return this.#place.hasRules;
  }

  /** Adds that this directory was reached by a path with links, which the rules then hold for, too. @internal */
  markWritten(path: WrittenPath): void {
    this.#place = this.#place.writtenAs(path);
  }

  /** Returns the place of a subdirectory, or of this directory for `.`. @internal */
  placeOf(name: Name): Place {
    return name === '.' ? this.#place : this.#place.child(name.toString());
  }

  /** Reports whether a listing leaves an entry out. */
  protected isHidden({ name, raw, type }: Entry): boolean {
    return isReservedName(name) || this.denial(raw, type === 'directory') !== undefined;
  }

  /** Raises `not_found` for an entry that is denied, whatever it is unless `isFolder` says. */
  protected assertSeen(name: Name, isFolder?: boolean): void {
    if (this.denial(name, isFolder) !== undefined) throw new FenceError('not_found', {});
  }

  /**
   * Raises `not_allowed` for a change that the rules of the root forbid, and `not_found` if this directory has been
   * moved since it was opened: where it is now, other rules may hold. @internal
   */
  protected assertMayChange(name: Name, change: Change): void {
    this.#assertAllowed(name, change);
    if (this.#isElsewhere(name)) throw new FenceError('not_found', {});
  }

  /** Reports whether this directory has been moved to where other rules may hold for an entry of it. */
  #isElsewhere(name: Name): boolean {
    const place = this.#place;
    if (!place.hasRules || place.isProvisional || isReservedName(name.toString())) return false;
    return !this.isAt(place.folder.names);
  }

  /**
   * Removes what was just made, and raises `not_found`, if this directory was moved at the same moment. Whoever moved
   * it either finds the entry when it checks the folder once more, or has moved it before the entry was made. Files do
   * not need this: they get their names under the lock of the folder.
   */
  #takeBackIfMoved(name: Name, remove: (hostPath: HostPath | Buffer) => void): void {
    if (!this.#isElsewhere(name)) return;
    this.#call(name, remove);
    throw new FenceError('not_found', {});
  }

  /** Raises `not_allowed` for a change that the rules forbid where this directory was when it was opened. */
  #assertAllowed(name: Name, change: Change): void {
    const refusal = this.refusal(name, change);
    if (refusal !== undefined) throw new FenceError('not_allowed', refusal);
  }

  /** Raises `not_allowed` if the rules of the root forbid to move an entry, or to put it where it goes. */
  protected assertMayMove(name: Name, to: Dir, toName: Name, checked?: CheckedTree): void {
    // Callers cannot reach what has a temporary name, so nothing in it gets out from under the rules.
    const isTemporary = isReservedName(name.toString()) || isReservedName(toName.toString());
    const stats = this.#lstat(name);
    const isFolder = stats?.isDirectory() ?? false;
    this.assertMayChange(name, { isFolder });
    to.assertMayChange(toName, { isFolder, put: true });
    if (!isFolder || isTemporary || !(this.hasRules || to.hasRules)) return;
    const isChecked = checked?.to === to && checked.toName === toName;
    if (!isChecked) throw new Error('a folder is moved that was not checked for what has to stay in place');
    // What is in the folder was not checked for where it would be moved to next.
    if (to.#place.isMoving || checked.dev !== stats?.dev || checked.ino !== stats.ino) throw new FenceError('busy', {});
  }

  /** Returns why an entry does not exist for callers. `creating` is set if it is about to be made. @internal */
  protected denial(name: Name, isFolder?: boolean, creating = false): Refusal | undefined {
    const place = this.#place;
    const text = typeof name === 'string' ? name : name.toString();
    if (text === '.') return place.ownDenial;
    const asFolder = isFolder === false ? undefined : place.denial(text, true);
    const asFile = isFolder === true ? undefined : place.denial(text, false);
    if ((asFolder === undefined && asFile === undefined) || isReservedName(text)) return undefined;
    const match = (isFolder ?? this.#lstat(name)?.isDirectory() ?? false) ? asFolder : asFile;
    const pattern = match && this.#settle(match, name, creating);
    return pattern === undefined ? undefined : { rule: 'deny', pattern };
  }

  /** Decides between what matches a name as it is written, and as a file system compares it that folds names. */
  #settle({ exact, folded }: RuleMatch, name: Name, creating = false): string | undefined {
    if (exact !== undefined && folded !== undefined) return exact;
    return this.#folds(name.toString(), creating) ? folded : exact;
  }

  /** Reports whether two spellings of a name are the same entry here. Folders of one file system may differ in that. */
  #folds(name: string, creating: boolean): boolean {
    const others = otherSpellings(name);
    if (others.length === 0) return true;
    // Nothing is there that could be compared, and what is not there is hidden from nobody.
    if (this.#lstat(name) === undefined) return creating && this.#foldsNewNames();
    const found = others.filter((other) => this.#lstat(other) !== undefined);
    if (found.length === 0) return false;
    // Inode numbers do not tell: a FUSE file system may give each spelling its own. Two files are both listed.
    const listed = new Set(this.list(true).map((entry) => entry.name));
    return !listed.has(name) || found.some((other) => !listed.has(other));
  }

  #foldsNewNames(): boolean {
    const name = temporaryName();
    this.createFile(name)[Symbol.dispose]();
    try {
      return this.#lstat(name.toUpperCase()) !== undefined;
    } finally {
      this.unlink(name);
    }
  }

  /** Runs a system call on one entry and translates its failure. */
  #call<T>(name: Name, run: (hostPath: HostPath | Buffer) => T): T {
    try {
      this.assertInside();
      // SAFETY: a single name in this very directory, and every `run` acts on a link itself or opens with O_NOFOLLOW.
      return run(this.pathUnconfined(name));
    } catch (error) {
      throw this.#isGone(error) ? new FenceError('not_found', {}, { cause: error }) : fromSystem(error);
    }
  }

  /** Reports whether a call failed because this directory was removed, which network file systems answer with ESTALE. */
  #isGone(error: unknown): boolean {
    if (errnoOf(error) !== 'ESTALE') return false;
    try {
      // SAFETY: `.` is this very directory.
      return fs.lstatSync(this.pathUnconfined('.')).nlink === 0;
    } catch (failure) {
      return ['ESTALE', 'ENOENT'].includes(errnoOf(failure) ?? '');
    }
  }

  /** Runs a system call on an entry of this directory and one of `to`, and translates its failure. */
  #callOnPair(
    name: Name,
    to: Dir,
    toName: Name,
    run: (from: HostPath | Buffer, into: HostPath | Buffer) => void,
  ): void {
    this.#call(name, (from) => {
      to.assertInside();
      // SAFETY: single names in two open directories, and no call that renames, links or removes follows a link as the
      // last name.
      run(from, to.pathUnconfined(toName));
    });
  }
}

/** Gives a file a second name, and reports whether this file can have one: not every file system has hard links. */
function linkIfPossible(from: HostPath | Buffer, into: HostPath | Buffer): boolean {
  try {
    fs.linkSync(from, into);
    return true;
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errnoOf(error) ?? '')) throw error;
    return false;
  }
}

/** Lists names that are not all UTF-8. */
function listBytes(hostPath: HostPath | Buffer): Entry[] {
  return fs
    .readdirSync(hostPath, { withFileTypes: true, encoding: 'buffer' })
    .map((dirent) => ({ name: dirent.name.toString(), raw: decodeName(dirent.name), type: entryTypeOf(dirent) }));
}
