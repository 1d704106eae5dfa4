import { FenceError, type OpenFile, type Root } from '../fence/index.ts';
import { type History, textToName } from '../history/index.ts';
import { copyTail } from './change-in-place.ts';
import { openDespiteMode } from './open-despite-mode.ts';
import { openFolder } from './past/open-folder.ts';
import { splitPath } from './past/past-tree.ts';
import type { UndoAction } from './plan/undo-plan.ts';

/**
 * The changes in place of a batch of actions. What will be cut off is kept ahead of the first action, so that all of it
 * is flushed together: until it is cut, a file has all that was appended to it.
 */
export class PreparedCuts implements Disposable {
  readonly #history: History;
  readonly #root: Root;
  /** When each file will have been modified, by its inode number. */
  readonly #mtimes = new Map<number, bigint>();
  readonly #tails: OpenFile[] = [];
  readonly #places: string[] = [];

  constructor(history: History, root: Root) {
    this.#history = history;
    this.#root = root;
  }

  /**
   * Returns when the file of an action will have been modified just before it; undefined if it is not there yet, but
   * will be brought by an earlier action.
   */
  mtimeNs({ path, before, undoes }: UndoAction): bigint | undefined {
    using file = this.#open(path);
    if (file === undefined || file.stats.ino !== before?.ino || file.size < before.size) return undefined;
    const mtimeNs = this.#mtimes.get(before.ino) ?? file.mtimeNs();
    this.#mtimes.set(before.ino, BigInt(undoes.mtimeNs ?? 0));
    return mtimeNs;
  }

  /** Keeps what an action will cut off. */
  keepTail({ path, before, after }: UndoAction, place: string): void {
    using file = this.#open(path);
    if (file === undefined || before === undefined || after === undefined) return;
    this.#history.kept.discard(place);
    using at = this.#history.kept.open(place);
    const tail = at.dir.createFile(at.name, 0o600);
    this.#tails.push(tail);
    this.#places.push(place);
    copyTail(file, after.size, tail, before.size);
  }

  /** Flushes what was kept to disk. */
  async flush(): Promise<void> {
    if (this.#tails.length === 0) return;
    await Promise.all(this.#tails.map((tail) => tail.syncData()));
    await this.#history.kept.flush(this.#places);
  }

  [Symbol.dispose](): void {
    for (const tail of this.#tails) tail[Symbol.dispose]();
  }

  #open(path: string): OpenFile | undefined {
    const [folder, name] = splitPath(path);
    try {
      using dir = openFolder(this.#root, folder);
      const raw = textToName(name);
      return openDespiteMode(dir, raw, () => dir.openFile(raw));
    } catch (error) {
      if (!(error instanceof FenceError)) throw error;
      return undefined;
    }
  }
}
