import type { Dir, Entry, Name, Root } from '../fence/index.ts';
import { throwIfAborted } from './control.ts';
import { LookPart } from './look-part.ts';
import type { SearchPool } from './search/pool.ts';
import type { WorkerThread } from './search/worker-thread.ts';

/** Between looks whether a wait has become pointless: it was given up, or the other thread is gone. */
const PATIENCE_MS = 500;
/** Names within a part, at most, so that one number tells part and name. */
const PART = 2 ** 16;

interface GivenPart {
  readonly part: LookPart;
  readonly thread: WorkerThread;
}

/**
 * Looks at the entries of a large folder on another thread while they are still being listed and sorted, which takes as long.
 * What that thread has not come to when all are listed, this one looks at.
 */
export class LookAhead implements Disposable {
  readonly #root: Root;
  readonly #dir: Dir;
  readonly #pool: SearchPool;
  readonly #parts: GivenPart[] = [];
  readonly #places = new Map<string, number>();

  constructor(root: Root, dir: Dir, pool: SearchPool) {
    this.#root = root;
    this.#dir = dir;
    this.#pool = pool;
  }

  /** Has a part of a listing looked at, if a thread has time for it. */
  add(entries: readonly Entry[]): void {
    const dir = this.#dir.share();
    const names: string[] = [];
    for (const { raw } of entries.slice(0, PART)) if (typeof raw === 'string') names.push(raw);
    if (dir === undefined || names.length === 0) return;
    const part = LookPart.of(names);
    const thread = this.#pool.lookAt({ root: this.#root.share(), dir, part: part.shared });
    if (thread === undefined) return;
    for (const [index, name] of names.entries()) this.#places.set(name, this.#parts.length * PART + index);
    this.#parts.push({ part, thread });
  }

  /** Nobody looks at what is left. Nothing is known of any entry then. */
  [Symbol.dispose](): void {
    for (const { part } of this.#parts.splice(0)) part.giveUp();
    this.#places.clear();
  }

  /** Looks at what is left, and waits for the rest. The folder must not be closed before. */
  async finish(signal: AbortSignal, pause: () => Promise<void> | undefined): Promise<void> {
    for (const { part } of this.#parts.toReversed()) {
      if (!part.take()) continue;
      part.fill(this.#dir);
      const wait = pause();
      if (wait !== undefined) await wait;
    }
    for (const { part, thread } of this.#parts) {
      while (!part.isFilled) {
        throwIfAborted(signal);
        if (!part.hasFailed && !thread.hasEnded) {
          await part.wait(PATIENCE_MS);
          continue;
        }
        part.takeOver();
        part.fill(this.#dir);
      }
    }
  }

  /** Undefined for an entry that is gone, and for one that nobody looked at. */
  of(name: Name): ReturnType<Dir['brief']> {
    const place = typeof name === 'string' ? this.#places.get(name) : undefined;
    if (place === undefined) return undefined;
    return this.#parts[Math.floor(place / PART)]?.part.at(place % PART);
  }
}
