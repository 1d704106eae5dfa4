import fs from 'node:fs';
import type { NativeFunction, NativeLibrary } from '../runtime/koffi.ts';

/** The size of a pipe's buffer here: one page, the least that the kernel allows. */
const PAGE = 4096;
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const POLLIN = 1;
/** A thread of the pool may be busy with a slow disk. */
const PATIENCE_MS = 5_000;
const DEFAULT_THREADS = 4;
const MAX_THREADS = 1024;

/**
 * Runs `work` once on every thread of libuv's pool, where `work` calls native functions with `async`. Rejects if a thread does not
 * become free within five seconds. What else was queued meanwhile is delayed.
 *
 * All threads are held, then released one at a time: while `work` runs, its thread is the only one that can take a call.
 */
export async function onEachPoolThread(libc: NativeLibrary, work: () => Promise<void>): Promise<void> {
  const calls = bind(libc);
  const holds: ThreadHold[] = [];
  try {
    for (let i = poolSize(); i > 0; i -= 1) {
      const hold = new ThreadHold(calls);
      holds.push(hold);
      hold.take();
    }
    for (const hold of holds) {
      await hold.release();
      await work();
      hold.take();
    }
  } finally {
    for (const hold of holds) hold.end();
  }
}

/** Calls a native function on a thread of libuv's pool. */
export function onPoolThread(call: NativeFunction, ...args: unknown[]): Promise<number> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error: Error | null, result: number) => (error ? reject(error) : resolve(Number(result))));
  });
}

/** Returns the number of threads that libuv starts: it reads the variable with atoi(3), once. */
function poolSize(env: NodeJS.ProcessEnv = process.env): number {
  const written = env.UV_THREADPOOL_SIZE;
  if (written === undefined) return DEFAULT_THREADS;
  const size = Number.parseInt(written, 10) || 0;
  // A negative number becomes a huge one, because libuv stores it as unsigned.
  return size < 0 ? MAX_THREADS : Math.min(Math.max(size, 1), MAX_THREADS);
}

interface Calls {
  readonly pipe: NativeFunction;
  readonly fcntl: NativeFunction;
  readonly poll: NativeFunction;
  readonly write: NativeFunction;
}

function bind(libc: NativeLibrary): Calls {
  return {
    pipe: libc.func('int pipe2(void *fds, int flags)'),
    fcntl: libc.func('int fcntl(int fd, int command, int argument)'),
    poll: libc.func('int poll(void *fds, unsigned long count, int timeout)'),
    write: libc.func('long write(int fd, const void *from, size_t size)'),
  };
}

/**
 * Holds one thread of the pool by a write of two pages to a pipe that has room for one. The first page shows that a thread has
 * taken the call; the second one blocks it until the first is read.
 */
class ThreadHold {
  readonly #calls: Calls;
  readonly #readEnd: number;
  readonly #writeEnd: number;
  readonly #pages = Buffer.alloc(2 * PAGE);
  #held: Promise<number> | undefined;

  constructor(calls: Calls) {
    this.#calls = calls;
    const ends = new Int32Array(2);
    if (calls.pipe(ends, O_CLOEXEC) !== 0) throw new Error('no pipe');
    [this.#readEnd, this.#writeEnd] = ends as unknown as [number, number];
    calls.fcntl(this.#writeEnd, F_SETPIPE_SZ, PAGE);
  }

  /** Takes a free thread, and returns once it is held. */
  take(): void {
    this.#held = onPoolThread(this.#calls.write, this.#writeEnd, this.#pages, this.#pages.length);
    const polled = Buffer.alloc(8);
    polled.writeInt32LE(this.#readEnd, 0);
    polled.writeInt16LE(POLLIN, 4);
    if (this.#calls.poll(polled, 1, PATIENCE_MS) !== 1) throw new Error("a thread of libuv's pool did not become free");
  }

  /** Lets the thread go. Resolves once it is free. */
  async release(): Promise<void> {
    const page = Buffer.alloc(PAGE);
    for (let left = this.#pages.length; left > 0; ) left -= fs.readSync(this.#readEnd, page);
    await this.#held;
    this.#held = undefined;
  }

  /** Lets the thread go, if one is held, and closes the pipe. */
  end(): void {
    // Without a reader the write fails, also one that no thread has taken yet. Node ignores the signal SIGPIPE.
    fs.closeSync(this.#readEnd);
    const closeWriteEnd = (): void => fs.closeSync(this.#writeEnd);
    if (this.#held === undefined) closeWriteEnd();
    else void this.#held.then(closeWriteEnd, closeWriteEnd);
  }
}
