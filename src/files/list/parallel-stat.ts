import type { Dir, Root } from '../../fence/index.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import type { SearchPool } from '../../search/pool/search-pool.ts';
import type { WorkerThread } from '../../search/pool/worker-thread.ts';
import type { StatBatch } from './stat-batch.ts';

/** Between looks whether a wait has become pointless: it was given up, or the other thread is gone. */
const PATIENCE_MS = 500;

interface StatFolder {
  readonly root: Root;
  readonly dir: Dir;
  readonly part: StatBatch;
}

/**
 * Has another thread look at the entries of a large folder from the last on, while this one does so from the first on, until
 * they meet. Nobody waits for a thread that has not begun.
 */
export class ParallelStat implements Disposable {
  readonly #part: StatBatch;
  readonly #thread: WorkerThread;

  private constructor(part: StatBatch, thread: WorkerThread) {
    this.#part = part;
    this.#thread = thread;
  }

  /** Undefined if there is no other thread, or none can have a part in this folder. */
  static begin({ root, dir, part }: StatFolder, pool: SearchPool): ParallelStat | undefined {
    const shared = dir.share();
    if (shared === undefined) return undefined;
    const thread = pool.idleFor(root.share());
    if (thread === undefined) return undefined;
    thread.tell({ type: 'look', root: root.share(), dir: shared, part: part.shared });
    return new ParallelStat(part, thread);
  }

  /** Resolves when nobody else will find anything in a step: what was not found by then is left to this thread. */
  async done(step: number, signal: AbortSignal): Promise<void> {
    const part = this.#part;
    if (part.claim(step)) return;
    while (!part.isFilled(step)) {
      throwIfAborted(signal);
      if (part.hasFailed(step) || this.#thread.hasEnded) return;
      await part.wait(step, PATIENCE_MS);
    }
  }

  /**
   * Leaves nothing to the other thread but the step that it is in the middle of. It may go on with that when the folder is
   * closed, perhaps on the number of another one by then: it only looks, and nobody reads what it finds.
   */
  [Symbol.dispose](): void {
    this.#part.claimRest();
  }
}
