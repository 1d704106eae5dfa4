import type { Dir, Root, SharedDir, SharedRoot } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import type { SharedStatBatch, StatBatch } from './stat-batch.ts';

/** By then, the listing that could have used the thread is over in most cases, and not slowed down by its start. */
const START_DELAY_MS = 100;
/** Time between checks whether waiting for the thread has become pointless. */
const CHECK_MS = 500;

/** What the thread is told: a root to open ahead of time, or some of its entries to stat. Its results go to shared memory. */
export interface StatNotice {
  readonly root: SharedRoot;
  readonly work?: { readonly dir: SharedDir; readonly batch: SharedStatBatch };
}

type Thread = Pick<WorkerThread<never, never, StatNotice>, 'notify' | 'hasEnded' | 'close'>;

/**
 * A second thread for the entries of large folders: it stats them from the last on, while the caller does so from the first on,
 * until they meet. Started after the first large folder, so that programs without any do without it.
 */
export class StatThread implements AsyncDisposable {
  #thread: Thread | undefined;
  #starting: NodeJS.Timeout | undefined;
  #closed = false;

  /** `thread` is for tests. */
  constructor(thread?: Thread) {
    this.#thread = thread;
  }

  /** Undefined if the thread does not run yet, or cannot share this folder. */
  help(root: Root, dir: Dir, batch: StatBatch): StatHelp | undefined {
    const shared = dir.share();
    if (shared === undefined || this.#closed) return undefined;
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#startSoon(root.share());
      return undefined;
    }
    this.#thread.notify({ root: root.share(), work: { dir: shared, batch: batch.shared } });
    return new StatHelp(batch, this.#thread);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#starting);
    await this.#thread?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #startSoon(root: SharedRoot): void {
    this.#starting ??= setTimeout(() => {
      this.#starting = undefined;
      this.#thread = new WorkerThread({ entry: compiledFile(import.meta.url, 'stat-worker.js'), errors: {} });
      this.#thread.notify({ root });
    }, START_DELAY_MS).unref();
  }
}

/** The help of the second thread with one batch of entries. Dispose of it when the batch is done. */
export class StatHelp implements Disposable {
  readonly #batch: StatBatch;
  readonly #thread: Pick<Thread, 'hasEnded'>;

  constructor(batch: StatBatch, thread: Pick<Thread, 'hasEnded'>) {
    this.#batch = batch;
    this.#thread = thread;
  }

  /** Resolves when the second thread is done with a step, or will never be: what it did not stat is left to the caller. */
  async done(step: number, signal: AbortSignal): Promise<void> {
    const batch = this.#batch;
    if (batch.claim(step)) return;
    while (!batch.isFilled(step)) {
      throwIfAborted(signal);
      if (batch.hasFailed(step) || this.#thread.hasEnded) return;
      await batch.wait(step, CHECK_MS);
    }
  }

  /**
   * Leaves nothing to the second thread but the step that it works on. It may go on with that after the folder is closed, even
   * on the number of another folder by then: it only stats, and nobody reads what it finds.
   */
  [Symbol.dispose](): void {
    this.#batch.claimRest();
  }
}
