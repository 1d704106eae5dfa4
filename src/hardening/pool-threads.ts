import fs from 'node:fs';
import type { NativeFunction, NativeLibrary } from '../runtime/koffi.ts';

/** The size of a pipe's buffer here: one page, the least that the kernel allows. */
const PAGE = 4096;
const TWO_PAGES = Buffer.alloc(2 * PAGE);
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const POLLIN = 1;
/** A thread of the pool may be busy with a slow disk. */
const PATIENCE_MS = 5_000;
const DEFAULT_THREADS = 4;
const MAX_THREADS = 1024;

/**
 * Makes native calls on every thread of libuv's pool, in their order, and resolves once all have returned. `queue`
 * queues the calls for one thread with `onPoolThread`. Rejects if a call does, and if a thread does not become free
 * within five seconds. What else was queued meanwhile is delayed.
 *
 * All threads are held, then released one at a time and held again after their calls: the pool takes calls in the order
 * in which they were queued, and only the released thread is free to take them.
 */
export async function onEachPoolThread(libc: NativeLibrary, queue: () => Promise<void>[]): Promise<void> {
  const calls = bind(libc);
  const holds: ThreadHold[] = [];
  const queued: Promise<void>[] = [];
  try {
    const size = poolSize();
    for (let i = 0; i < size; i += 1) holds.push(new ThreadHold(calls));
    for (const hold of holds.slice()) {
      hold.release();
      queued.push(...queue());
      holds.push(new ThreadHold(calls));
    }
  } finally {
    for (const hold of holds) hold.release();
    await Promise.all(queued);
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
 * Holds one thread of the pool by a write of two pages to a pipe that has room for one. The first page shows that a
 * thread has taken the call; the second one blocks it.
 */
class ThreadHold {
  readonly #readEnd: number;
  #isReleased = false;

  /** Takes a free thread, and returns once it is held. */
  constructor({ pipe, fcntl, poll, write }: Calls) {
    const ends = new Int32Array(2);
    if (pipe(ends, O_CLOEXEC) !== 0) throw new Error('no descriptors are left');
    const [readEnd, writeEnd] = ends as unknown as [number, number];
    this.#readEnd = readEnd;
    fcntl(writeEnd, F_SETPIPE_SZ, PAGE);
    const closeWriteEnd = (): void => fs.closeSync(writeEnd);
    onPoolThread(write, writeEnd, TWO_PAGES, TWO_PAGES.length).then(closeWriteEnd, closeWriteEnd);
    const polled = Buffer.alloc(8);
    polled.writeInt32LE(readEnd, 0);
    polled.writeInt16LE(POLLIN, 4);
    if (poll(polled, 1, PATIENCE_MS) === 1) return;
    this.release();
    throw new Error("a thread of libuv's pool did not become free");
  }

  /** Lets the thread go. Further calls are ignored. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    // Without a reader the write returns, or fails if no thread has taken it yet. Node ignores the signal SIGPIPE.
    fs.closeSync(this.#readEnd);
  }
}
