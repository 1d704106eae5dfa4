import fs from 'node:fs';
import { fromSystem } from './errno.ts';

/** No descriptor: Node itself refuses it. */
const CLOSED = -1;

/** A regular file that was opened through the fence, as far as reading goes. Holds a descriptor, so dispose of it. */
export class ReadableFile implements Disposable {
  /** In bytes, when it was opened. Files in /proc and the like say 0 and have content all the same. */
  readonly size: number;
  #fd: number;

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.size = size;
  }

  protected get fd(): number {
    return this.#fd;
  }

  /** Reads at `position`, or on from the last read when it is null. Returns 0 at the end of the file. */
  read(into: Uint8Array, position: number | null = null, length = into.byteLength): number {
    try {
      return fs.readSync(this.#fd, into, 0, length, position);
    } catch (error) {
      throw fromSystem(error);
    }
  }

  /**
   * The same on another thread, so that a slow disk holds up nobody else. Costs more than a small read, and the file must
   * not be disposed of before it is done.
   */
  readAsync(into: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.#fd, into, 0, into.byteLength, position, (error, read) => {
        if (error === null) resolve(read);
        else reject(fromSystem(error));
      });
    });
  }

  /** Reads into part of a buffer. As `read` does, but without a view of that part. */
  readInto(buffer: Uint8Array, { at, length, position }: { at: number; length: number; position: number }): number {
    try {
      return fs.readSync(this.#fd, buffer, at, length, position);
    } catch (error) {
      throw fromSystem(error);
    }
  }

  /** The same for two descriptors only if they are the same file. */
  identity(): string {
    const { dev, ino } = withFenceErrors(() => fs.fstatSync(this.#fd, { bigint: true }));
    return `${dev} ${ino}`;
  }

  /** Disposes of it on another thread: with the last descriptor of a removed file the system gives back all that it held. */
  closeAsync(): Promise<void> {
    const fd = this.#fd;
    if (fd === CLOSED) return Promise.resolve();
    this.#fd = CLOSED;
    return new Promise((resolve, reject) => {
      fs.close(fd, (error) => {
        if (error) reject(fromSystem(error));
        else resolve();
      });
    });
  }

  /** Once is enough; then every other call fails, since the number may soon be another file's. */
  [Symbol.dispose](): void {
    if (this.#fd === CLOSED) return;
    fs.closeSync(this.#fd);
    this.#fd = CLOSED;
  }
}

export function withFenceErrors<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromSystem(error);
  }
}
