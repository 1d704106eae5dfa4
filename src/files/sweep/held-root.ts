import path from 'node:path';
import { ensureHostFolder, Root } from '../../fence/index.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

/** A folder that a program holds open for as long as it works with it. Removes what an earlier, killed run left there. */
export class HeldRoot {
  readonly #root: Root;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  private constructor(root: Root) {
    this.#root = root;
    // Failing to tidy up must not fail the work; the next start tries again.
    this.#track(sweepLeftovers(root, this.#closing.signal).catch(() => {}));
  }

  /** Opens a folder by its absolute path, making it if need be. Throws an error for people if that fails. */
  static open(name: string, hostPath: string): HeldRoot {
    if (typeof hostPath !== 'string' || !path.isAbsolute(hostPath)) {
      throw new TypeError(`the folder must be given by an absolute path, got ${JSON.stringify(hostPath)}`);
    }
    try {
      ensureHostFolder(hostPath);
      return new HeldRoot(Root.open(name, hostPath));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`the folder ${hostPath} cannot be used: ${code ?? 'unknown error'}`, { cause: error });
    }
  }

  /** Runs work on the root, which stays open until the work is done. */
  async use<T>(work: (root: Root) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new Error('already closed');
    return this.#track(work(this.#root));
  }

  /** Gives the folder up once running work is done. Closing again changes nothing. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    this.#root[Symbol.dispose]();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#running.delete(done));
    this.#running.add(done);
    return done;
  }
}
