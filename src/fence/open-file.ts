import fs from 'node:fs';
import { promisify } from 'node:util';
import { type EntryType, entryTypeOf } from './entry.ts';
import { errnoOf, fromSystem } from './errno.ts';
import { FenceError } from './errors.ts';

const fsync = promisify(fs.fsync);
const fdatasync = promisify(fs.fdatasync);
const copyFile = promisify(fs.copyFile);

const COPY_BYTES = 1024 * 1024;

/** The descriptor of a closed file: -1, which every system call refuses. */
const CLOSED = -1;

/** A regular file that was opened through the fence for reading. Holds a descriptor, so dispose of it. */
export class ReadableFile implements Disposable {
  /** The size in bytes when it was opened. Files in /proc and the like report 0 although they have content. */
  readonly size: number;
  #fd: number;

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.size = size;
  }

  protected get fd(): number {
    return this.#fd;
  }

  /**
   * Reads at `position`, or on from the last read if it is null. Returns the number of bytes, 0 at the end of the file.
   */
  read(into: Uint8Array, position: number | null = null, length = into.byteLength): number {
    try {
      return fs.readSync(this.#fd, into, 0, length, position);
    } catch (error) {
      throw fromDescriptor(error);
    }
  }

  /**
   * Reads at `position` on libuv's thread pool, so that a slow disk does not block this thread. Costs more than a small
   * read. The file must not be disposed of before the promise settles.
   */
  readAsync(into: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.#fd, into, 0, into.byteLength, position, (error, read) => {
        if (error === null) resolve(read);
        else reject(fromDescriptor(error));
      });
    });
  }

  /** Reads into part of a buffer without making a view of that part. */
  readInto(buffer: Uint8Array, { at, length, position }: { at: number; length: number; position: number }): number {
    try {
      return fs.readSync(this.#fd, buffer, at, length, position);
    } catch (error) {
      throw fromDescriptor(error);
    }
  }

  /** Returns a text that is equal for two open files only if they are the same file: device and inode. */
  identity(): string {
    const { dev, ino } = withDescriptorErrors(() => fs.fstatSync(this.#fd, { bigint: true }));
    return `${dev} ${ino}`;
  }

  /**
   * Closes the file on libuv's thread pool: closing the last descriptor of a large removed file frees all its blocks.
   */
  closeAsync(): Promise<void> {
    const fd = this.#fd;
    if (fd === CLOSED) return Promise.resolve();
    this.#fd = CLOSED;
    return new Promise((resolve, reject) => {
      fs.close(fd, (error) => {
        if (error && !isStale(error)) reject(fromSystem(error));
        else resolve();
      });
    });
  }

  /**
   * Closes the file. Further calls are ignored, other methods fail: the descriptor's number may soon be another file's.
   */
  [Symbol.dispose](): void {
    const fd = this.#fd;
    if (fd === CLOSED) return;
    this.#fd = CLOSED;
    try {
      fs.closeSync(fd);
    } catch (error) {
      // It was replaced or removed on another machine; what was to be kept of it is flushed by then.
      if (!isStale(error)) throw fromSystem(error);
    }
  }
}

/** A regular file that was opened through the fence, for reading and writing. Holds a descriptor, so dispose of it. */
export class OpenFile extends ReadableFile {
  /** The status when it was opened. */
  readonly stats: fs.Stats;

  constructor(fd: number, stats: fs.Stats) {
    super(fd, stats.size);
    this.stats = stats;
  }

  /** Writes all of `data` after what was written so far. */
  writeAll(data: Uint8Array): void {
    let done = 0;
    while (done < data.byteLength) done += this.writeOnce(data.subarray(done));
  }

  /** Makes one write(2) and returns the number of bytes that the system took. */
  writeOnce(data: Uint8Array): number {
    return withDescriptorErrors(() => fs.writeSync(this.fd, data));
  }

  /**
   * Makes one write(2) on libuv's thread pool, so that a slow disk does not block this thread. The file must not be
   * disposed of, nor the data changed, before the promise settles.
   */
  writeAsync(data: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.fd, data, (error, written) => {
        if (error === null) resolve(written);
        else reject(fromDescriptor(error));
      });
    });
  }

  /** Stats the file as it is now; `stats` is from when it was opened. */
  stat(): fs.Stats {
    return withDescriptorErrors(() => fs.fstatSync(this.fd));
  }

  /** Returns the time of the last modification in nanoseconds since 1970, which `Stats` rounds. */
  mtimeNs(): bigint {
    return withDescriptorErrors(() => fs.fstatSync(this.fd, { bigint: true }).mtimeNs);
  }

  /** Cuts the file, or extends it with zeros, to `size` bytes. */
  truncate(size: number): void {
    withDescriptorErrors(() => fs.ftruncateSync(this.fd, size));
  }

  /** Sets the mode bits. */
  chmod(mode: number): void {
    withDescriptorErrors(() => fs.fchmodSync(this.fd, mode));
  }

  /** Sets owner and group, which only a privileged process may do freely. */
  chown(uid: number, gid: number): void {
    withDescriptorErrors(() => fs.fchownSync(this.fd, uid, gid));
  }

  /** Sets the times of last access and last modification. */
  utimes(atime: Date, mtime: Date): void {
    withDescriptorErrors(() => fs.futimesSync(this.fd, atime, mtime));
  }

  /**
   * Sets the time of last modification to now, to a fraction of a millisecond that is random. The system's own stamps
   * are those of its last clock tick, so that two changes within milliseconds get the same one. Does nothing where the
   * file is not this user's.
   */
  stampMtime(): void {
    const now = (Date.now() + Math.random()) / 1000;
    try {
      fs.futimesSync(this.fd, now, now);
    } catch (error) {
      if (errnoOf(error) !== 'EPERM') throw fromDescriptor(error);
    }
  }

  /**
   * Fills this file, which is empty, with the content of another open file, on libuv's thread pool. The two share their
   * blocks where Linux and the file system can do that.
   */
  async copyFrom(source: OpenFile): Promise<void> {
    if (process.platform !== 'linux') {
      const buffer = Buffer.allocUnsafe(COPY_BYTES);
      for (let at = 0; ; ) {
        const read = await source.readAsync(buffer, at);
        if (read === 0) return;
        this.writeAll(buffer.subarray(0, read));
        at += read;
      }
    }
    try {
      // SAFETY: in /proc/self/fd, a descriptor leads to the very file that is open.
      const [from, into] = [source.fd, this.fd].map((fd) => `/proc/self/fd/${fd}`) as [string, string];
      await copyFile(from, into, fs.constants.COPYFILE_FICLONE);
    } catch (error) {
      throw fromDescriptor(error);
    }
  }

  /** Flushes the content to disk with fsync(2), on libuv's thread pool because that may take long. */
  async sync(): Promise<void> {
    try {
      await fsync(this.fd);
    } catch (error) {
      throw fromDescriptor(error);
    }
  }

  /** Flushes the content to disk as `sync` does, without the times (fdatasync(2)). */
  async syncData(): Promise<void> {
    try {
      await fdatasync(this.fd);
    } catch (error) {
      throw fromDescriptor(error);
    }
  }
}

/**
 * Makes an `OpenFile` of a descriptor. Raises `is_directory` or `special_file` for anything else, without closing it.
 */
export function wrapRegularFile(fd: number): OpenFile {
  const stats = fs.fstatSync(fd);
  if (!stats.isFile()) throw notRegularError(entryTypeOf(stats));
  return new OpenFile(fd, stats);
}

/** Makes the error for an entry that was to be opened as a regular file and is something else. */
export function notRegularError(type: EntryType): FenceError {
  return new FenceError(type === 'directory' ? 'is_directory' : 'special_file', {});
}

/**
 * Reports whether a file was replaced or removed on another machine, on whose file system its descriptor leads nowhere by
 * now. GlusterFS says ENOENT, too, since it opens files only when they are read.
 */
function isStale(error: unknown): boolean {
  return ['ESTALE', 'ENOENT'].includes(errnoOf(error) ?? '');
}

/** Turns the failure of a call on an open file into a `FenceError`. Such a file is never missing, but may be stale. */
function fromDescriptor(error: unknown): unknown {
  return isStale(error) ? new FenceError('io_error', { errno: 'ESTALE' }, { cause: error }) : fromSystem(error);
}

function withDescriptorErrors<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromDescriptor(error);
  }
}
