import type { Dir, Root, SharedDir, SharedRoot } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import type { SharedStatBatch, StatBatch } from './stat-batch.ts';

/**
 * Delays the start of the thread until after the listing that asked for it, which a starting thread would slow down.
 */
const START_DELAY_MS = 100;
/** The time between checks whether the thread is still running. */
const CHECK_MS = 500;

/**
 * A message to the thread: a root to open ahead of time, or a batch of its entries to stat. Results go to shared
 * memory.
 */
export interface StatNotice {
  readonly root: SharedRoot;
  readonly work?: { readonly dir: SharedDir; readonly batch: SharedStatBatch };
}

type Thread = Pick<WorkerThread<never, never, StatNotice>, 'notify' | 'hasEnded' | 'close'>;

/**
 * A second thread that stats entries of large folders, from the last towards the first, while the caller stats from the
 * first towards the last, until they meet. It is started after the first large folder, so a program without any never
 * starts it.
 */
export class StatThread implements AsyncDisposable {
  #thread: Thread | undefined;
  #starting: NodeJS.Timeout | undefined;
  #closed = false;

  /** Creates a handle without starting the thread. Tests pass a `thread` of their own. */
  constructor(thread?: Thread) {
    this.#thread = thread;
  }

  /**
   * Posts a batch to the thread. Returns undefined if the thread is not running yet, or if the backend cannot share
   * `dir`.
   */
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

  /** Ends the thread. Later calls of `help` return undefined. */
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

/** The work of the second thread on one batch. Dispose of it when the batch is done or given up. */
export class StatHelp implements Disposable {
  readonly #batch: StatBatch;
  readonly #thread: Pick<Thread, 'hasEnded'>;

  constructor(batch: StatBatch, thread: Pick<Thread, 'hasEnded'>) {
    this.#batch = batch;
    this.#thread = thread;
  }

  /**
   * Claims a step for the caller, or waits until the second thread has finished it, failed at it, or ended. The caller
   * must stat the entries that are still missing. Raises the reason of an aborted signal.
   */
  async claimOrWait(step: number, signal: AbortSignal): Promise<void> {
    const batch = this.#batch;
    if (batch.claim(step)) return;
    while (!batch.isFilled(step)) {
      throwIfAborted(signal);
      if (batch.hasFailed(step) || this.#thread.hasEnded) return;
      await batch.wait(step, CHECK_MS);
    }
  }

  /**
   * Claims all free steps, so that the second thread stops after its current one. It may finish that one after the
   * folder's descriptor was closed and reused for another folder. That is harmless: it only stats, and nobody reads its
   * results.
   */
  [Symbol.dispose](): void {
    this.#batch.claimRest();
  }
}
