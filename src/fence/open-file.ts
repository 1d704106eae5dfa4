import fs from 'node:fs';
import { promisify } from 'node:util';
import { fromSystem } from './errno.ts';
import { ReadableFile, withFenceErrors } from './readable-file.ts';

const fsync = promisify(fs.fsync);

/** A regular file that was opened through the fence, for reading and writing. Holds a descriptor, so dispose of it. */
export class OpenFile extends ReadableFile {
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
    return withFenceErrors(() => fs.writeSync(this.fd, data));
  }

  /**
   * Makes one write(2) on libuv's thread pool, so that a slow disk does not block this thread. The file must not be disposed of,
   * nor the data changed, before the promise settles.
   */
  writeAsync(data: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.fd, data, (error, written) => {
        if (error === null) resolve(written);
        else reject(fromSystem(error));
      });
    });
  }

  /** Stats the file as it is now; `stats` is from when it was opened. */
  stat(): fs.Stats {
    return withFenceErrors(() => fs.fstatSync(this.fd));
  }

  truncate(size: number): void {
    withFenceErrors(() => fs.ftruncateSync(this.fd, size));
  }

  chmod(mode: number): void {
    withFenceErrors(() => fs.fchmodSync(this.fd, mode));
  }

  chown(uid: number, gid: number): void {
    withFenceErrors(() => fs.fchownSync(this.fd, uid, gid));
  }

  utimes(atime: Date, mtime: Date): void {
    withFenceErrors(() => fs.futimesSync(this.fd, atime, mtime));
  }

  /** Flushes the content to disk with fsync(2), on libuv's thread pool because that may take long. */
  async sync(): Promise<void> {
    try {
      await fsync(this.fd);
    } catch (error) {
      throw fromSystem(error);
    }
  }
}
