import path from 'node:path';
import { chooseBackend, DEFAULT_RULES, ensureHostFolder, Root } from '../../fence/index.ts';
import { DEFAULT_HISTORY, History, type HistoryOptions } from '../../history/index.ts';
import { undoAppends } from '../write/append-journal.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

/** Options of `StorageRoot.open`. */
interface StorageOptions {
  /** Whether what changes replace or remove is kept, and how much of it; by default nothing is. */
  readonly history?: boolean | Partial<HistoryOptions> | undefined;
}

/**
 * A root in which a program stores files of its own, for as long as the program uses it. Opening it undoes what killed
 * processes left of appends, before any work, and starts the removal of their temporary files.
 */
export class StorageRoot {
  readonly #root: Root;
  readonly #history: History | undefined;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #undone: Promise<unknown>;
  #closed: Promise<void> | undefined;

  private constructor(root: Root, history: History | undefined) {
    this.#root = root;
    this.#history = history;
    this.#undone = this.#track(undoAppends(root).catch(() => {}));
    // A failed sweep must not fail the work on the root; the next start tries again.
    this.#track(sweepLeftovers(root, this.#closing.signal).catch(() => {}));
  }

  /**
   * Opens a folder by its absolute host path, and creates it if missing. Throws an `Error` with a message for the
   * operator.
   */
  static open(name: string, hostPath: string, { history = false }: StorageOptions = {}): StorageRoot {
    if (typeof hostPath !== 'string' || !path.isAbsolute(hostPath)) {
      throw new TypeError(`the folder must be given by an absolute path, got ${JSON.stringify(hostPath)}`);
    }
    const root = openRoot(name, hostPath);
    try {
      const options = { ...DEFAULT_HISTORY, ...(history !== true && history) };
      return new StorageRoot(root, history === false ? undefined : History.open(root, options));
    } catch (error) {
      root[Symbol.dispose]();
      throw new Error(`the history of the folder ${hostPath} cannot be opened: ${codeOf(error)}`, { cause: error });
    }
  }

  /** Runs `work` on the root, which stays open until the work settles. Rejects if `close` was called before. */
  async use<T>(work: (root: Root) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new Error('already closed');
    return this.#track(this.#undone.then(() => work(this.#root)));
  }

  /** Stops the sweep and closes the root once all running work has settled. Further calls return the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    this.#history?.[Symbol.dispose]();
    this.#root[Symbol.dispose]();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#running.delete(done));
    this.#running.add(done);
    return done;
  }
}

function openRoot(name: string, hostPath: string): Root {
  try {
    ensureHostFolder(hostPath);
    return Root.open(name, hostPath, chooseBackend(), DEFAULT_RULES);
  } catch (error) {
    throw new Error(`the folder ${hostPath} cannot be used: ${codeOf(error)}`, { cause: error });
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
