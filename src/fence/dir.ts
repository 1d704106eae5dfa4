import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { isCode, RingfenceError } from '../errors.ts';
import { type HostPath, isReservedName } from './caller-path.ts';
import { decodeName, type Name } from './entry-name.ts';
import { errnoOf, fromSystem } from './errno.ts';
import { OpenFile } from './open-file.ts';
import type { ReadableFile } from './readable-file.ts';
import type { StatLite } from './syscalls.ts';

const { constants } = fs;
const openAsync = promisify(fs.open);
const fsyncAsync = promisify(fs.fsync);
const closeAsync = promisify(fs.close);

/** A FIFO must not make the open wait, a terminal must not become ours, and a link must not be followed. */
export const SAFE_OPEN_FLAGS = constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

export type { Name } from './entry-name.ts';

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

export interface Entry {
  /** For people and JSON; a name that is not UTF-8 shows U+FFFD here. */
  readonly name: string;
  /** For system calls. */
  readonly raw: Name;
  readonly type: EntryType;
}

/** A directory that is open in another thread. */
export interface SharedDir {
  readonly fd: number;
}

/**
 * An open directory inside a root. Every method acts on entries of this very directory by a single name and never
 * follows a link in it, so a Dir that lies inside the root can only lead to what lies inside the root.
 * Raises the codes of `errno.ts`.
 */
export abstract class Dir implements Disposable {
  /** The host path of an entry, or of the directory itself for `.`. */
  protected abstract pathUnconfined(name: Name): HostPath | Buffer;

  /** Opens a sub-directory; a link in its place is `not_directory`. */
  abstract openDir(name: Name): Dir;

  /** The same, at the least cost for one that is listed and then read from. */
  openDirForListing(name: Name): Dir {
    return this.openDir(name);
  }

  /** Where this directory is right now on the host. For comparing two of them only: by then it may have moved. */
  abstract hostPath(): HostPath;

  abstract [Symbol.dispose](): void;

  /** Called before anything is changed or opened here; the portable backend looks again whether it is still inside. */
  protected assertInside(): void {}

  /** Called with each opened file; the portable backend compares it with what the path now leads to. */
  protected assertOpened(_fd: number, _name: Name): void {}

  /** The entries in the order the system gives them. Leftover temporary files show only with `all`. */
  list(all = false): Entry[] {
    return this.#do(() => {
      const dirents = fs.readdirSync(this.pathUnconfined('.'), { withFileTypes: true });
      if (dirents.some((dirent) => dirent.name.includes('\ufffd'))) return this.#listBytes(all);
      const entries: Entry[] = [];
      for (const dirent of dirents) {
        if (all || !isReservedName(dirent.name))
          entries.push({ name: dirent.name, raw: dirent.name, type: entryTypeOf(dirent) });
      }
      return entries;
    });
  }

  /** The same in parts, as the system hands them out, so that whoever lists a huge folder can pause in between. */
  *listBatches(all = false): Generator<Entry[], void, undefined> {
    yield this.list(all);
  }

  #listBytes(all: boolean): Entry[] {
    return fs
      .readdirSync(this.pathUnconfined('.'), { withFileTypes: true, encoding: 'buffer' })
      .map((dirent) => ({ name: dirent.name.toString(), raw: decodeName(dirent.name), type: entryTypeOf(dirent) }))
      .filter((entry) => all || !isReservedName(entry.name));
  }

  /** What an entry is, the link itself for a link; undefined if there is none. */
  lstat(name: Name): fs.Stats | undefined {
    return this.#do(() => {
      try {
        return fs.lstatSync(this.pathUnconfined(name));
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  /** What another thread needs to look at entries of this directory while it is open here; undefined if that would not be faster. */
  share(): SharedDir | undefined {
    return undefined;
  }

  /** The part of `lstat` that a listing shows. */
  statLite(name: Name): StatLite | undefined {
    const stats = this.lstat(name);
    return stats && { type: entryTypeOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
  }

  /** Where a link says it leads. A target that is not UTF-8 is `invalid_path`: as a string it would name another file. */
  readlink(name: Name): string {
    return this.#do(() => {
      const target = fs.readlinkSync(this.pathUnconfined(name), 'buffer');
      if (!isUtf8(target)) throw new RingfenceError('invalid_path', { problem: 'not_unicode' });
      return target.toString();
    });
  }

  /** Where a link leads, byte for byte, to make another just like it. */
  readlinkBytes(name: Name): Name {
    return this.#do(() => decodeName(fs.readlinkSync(this.pathUnconfined(name), 'buffer')));
  }

  /** Opens a regular file. `flags` are added to those that keep the open safe. Anything else is refused. */
  openFile(name: Name, flags: number = constants.O_RDONLY, mode = 0o644): OpenFile {
    return this.#do(() => {
      const fd = fs.openSync(this.pathUnconfined(name), flags | SAFE_OPEN_FLAGS, mode);
      try {
        this.assertOpened(fd, name);
        return wrapRegularFile(fd);
      } catch (error) {
        fs.closeSync(fd);
        throw error;
      }
    });
  }

  /** Opens a regular file for reading alone, at the least cost. */
  openForRead(name: Name): ReadableFile {
    return this.openFile(name);
  }

  /**
   * Reads a regular file into the beginning of a buffer, if it has some content and not more than `limit` bytes. Returns how
   * many; undefined if it is otherwise, or if this is no faster than opening it, which also says what is wrong.
   */
  readSmallFile(_name: Name, _into: Buffer, _limit: number): number | undefined {
    return undefined;
  }

  /** Opens a file to write at its end, making it if need be. */
  openForAppend(name: Name): OpenFile {
    return this.openFile(name, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  }

  /** Raises what writing to the file would raise (`permission_denied`, `read_only`, …) and writes nothing. */
  assertWritable(name: Name): void {
    try {
      this.openFile(name, constants.O_WRONLY)[Symbol.dispose]();
    } catch (error) {
      // A running program cannot be written to, but it can be replaced.
      if (!(isCode(error, 'io_error') && error.details.errno === 'ETXTBSY')) throw error;
    }
  }

  /** Makes a file that must not exist yet. */
  createFile(name: Name, mode = 0o644): OpenFile {
    return this.openFile(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, mode);
  }

  mkdir(name: Name, mode = 0o755): void {
    this.#do(() => fs.mkdirSync(this.pathUnconfined(name), { mode }));
  }

  unlink(name: Name): void {
    this.#do(() => fs.unlinkSync(this.pathUnconfined(name)));
  }

  /**
   * Keeps the content of a file for now, though its name may go; when disposed of, lets go of it on another thread. To free a
   * gigabyte takes the system a third of a second. Undefined where there is no such way, or no such file.
   */
  holdOpen(_name: Name): Disposable | undefined {
    return undefined;
  }

  rmdir(name: Name): void {
    this.#do(() => fs.rmdirSync(this.pathUnconfined(name)));
  }

  symlink(target: Name, name: Name): void {
    this.#do(() => fs.symlinkSync(target, this.pathUnconfined(name)));
  }

  chmod(name: Name, mode: number): void {
    // chmod follows links, so it goes through an open directory or file, never through a name.
    using dir = this.openDir(name);
    dir.#do(() => fs.chmodSync(dir.pathUnconfined('.'), mode));
  }

  /** Moves an entry, replacing a file (or an empty folder by a folder) that is in the way, in one step. */
  rename(name: Name, to: Dir, toName: Name): void {
    this.#do(() => {
      to.assertInside();
      fs.renameSync(this.pathUnconfined(name), to.pathUnconfined(toName));
    });
  }

  /** Moves an entry only if nothing is in the way; else `already_exists`. Never check-then-act. */
  renameNoReplace(name: Name, to: Dir, toName: Name): void {
    this.#do(() => {
      to.assertInside();
      if (fs.lstatSync(this.pathUnconfined(name)).isDirectory()) {
        // Our own empty folder holds the place, and a rename may replace exactly that.
        fs.mkdirSync(to.pathUnconfined(toName), { mode: 0o700 });
        try {
          fs.renameSync(this.pathUnconfined(name), to.pathUnconfined(toName));
        } catch (error) {
          fs.rmdirSync(to.pathUnconfined(toName));
          throw error;
        }
        return;
      }
      fs.linkSync(this.pathUnconfined(name), to.pathUnconfined(toName));
      fs.unlinkSync(this.pathUnconfined(name));
    });
  }

  /** Lets two entries change places in one step. False, and nothing done, where that is not possible. */
  exchange(_name: Name, _other: Name): boolean {
    return false;
  }

  /** Asks the disk to keep the names in this directory. A filesystem that cannot is not an error. */
  async sync(): Promise<void> {
    try {
      const fd = await openAsync(this.pathUnconfined('.'), constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        await fsyncAsync(fd);
      } finally {
        await closeAsync(fd);
      }
    } catch (error) {
      if (!['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP'].includes(errnoOf(error) ?? '')) throw fromSystem(error);
    }
  }

  #do<T>(call: () => T): T {
    try {
      this.assertInside();
      return call();
    } catch (error) {
      throw fromSystem(error);
    }
  }
}

/** Wraps a descriptor that must be a regular file. Does not close it on failure. */
export function wrapRegularFile(fd: number): OpenFile {
  const stats = fs.fstatSync(fd);
  if (!stats.isFile()) throw notRegularError(entryTypeOf(stats));
  return new OpenFile(fd, stats);
}

export function notRegularError(type: EntryType): RingfenceError {
  return new RingfenceError(type === 'directory' ? 'is_directory' : 'special_file', {});
}

/** Refuses anything but one plain name (or `.`), whatever the caller thought it was. */
export function assertSingleName(name: Name): void {
  // A NUL would end the name early where it is handed to the kernel as a C string.
  const bad = typeof name === 'string' ? /[/\0]/.test(name) : name.includes(0x2f) || name.includes(0);
  if (bad || name.length === 0 || name.toString() === '..') throw new Error('not a single file name');
}

export function entryTypeOf(item: fs.Stats | fs.Dirent | fs.Dirent<Buffer>): EntryType {
  if (item.isFile()) return 'file';
  if (item.isDirectory()) return 'directory';
  return item.isSymbolicLink() ? 'symlink' : 'other';
}
