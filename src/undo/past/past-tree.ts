import type { EntryState, History, PastStep } from '../../history/index.ts';
import { Origin, orMissing, type PastEntry, PastInodes, PastNode } from './past-node.ts';

/**
 * A root as it was: the live tree, rewound over the steps of its history, newest first. It looks at the disk only for
 * what is asked for, so the root must not change meanwhile. Changes of other programs are not known: what they changed
 * looks as it does now.
 */
export class PastTree {
  readonly #history: History;
  readonly #inodes = new PastInodes();
  readonly #top: PastNode;
  /** The kept entries that are not as they are now. */
  readonly #kept = new Map<string, PastNode | undefined>();
  /** The places that hold something else than they do now. */
  readonly #rekept = new Set<string>();

  constructor(history: History) {
    this.#history = history;
    const origin = new Origin(() => history.root.top, '.');
    this.#top = PastNode.at(origin, this.#inodes) as PastNode;
  }

  /** Returns the entry at a path from the top of the root; undefined if there was none. */
  lookup(path: string): PastEntry | undefined {
    return this.find(path);
  }

  /** @internal */
  find(path: string): PastNode | undefined {
    let node: PastNode | undefined = this.#top;
    for (const name of namesOf(path)) node = node && orMissing(() => (node as PastNode).child(name));
    return node;
  }

  /** Returns what is kept at a place. @internal */
  keptAt(place: string): PastNode | undefined {
    if (this.#kept.has(place)) return this.#kept.get(place);
    const stats = this.#history.kept.lstat(place);
    if (stats === undefined) return undefined;
    const origin = new Origin(() => this.#history.kept.open(place).dir, place.slice(place.indexOf('/') + 1));
    const node = new PastNode(this.#inodes.of(stats), origin, this.#inodes);
    this.#kept.set(place, node);
    return node;
  }

  /** Reports whether a place holds something else than it does now. @internal */
  isRekept(place: string): boolean {
    return this.#rekept.has(place);
  }

  /** Goes back to before a step that happened. */
  rewind({ step }: Pick<PastStep, 'step'>): void {
    const { path, to = '', before, kept, from } = step;
    switch (step.kind) {
      case 'put': {
        const replaced = this.#detach(path);
        if (from !== undefined) {
          this.#kept.set(from, replaced);
          this.#rekept.add(from);
        }
        if (before !== undefined) this.#attach(path, this.#takeKept(kept) ?? this.#unknown(before));
        break;
      }
      case 'remove':
      case 'unmake':
        if (before !== undefined) this.#attach(path, this.#takeKept(kept) ?? this.#unknown(before));
        break;
      case 'make':
        this.#detach(path);
        break;
      case 'move': {
        const moved = this.#detach(to);
        if (moved !== undefined) this.#attach(path, moved);
        if (step.replaced !== undefined) this.#attach(to, this.#takeKept(kept) ?? this.#unknown(step.replaced));
        break;
      }
      case 'append':
      case 'truncate':
        this.#rewindInPlace(step);
    }
  }

  #rewindInPlace({ kind, path, before, kept, mtimeNs }: PastStep['step']): void {
    const node = this.find(path);
    if (before === undefined || node?.ino !== before.ino) return;
    if (kind === 'append') node.cut(Math.min(node.size, before.size));
    else {
      const tail = kept === undefined ? undefined : this.keptAt(kept);
      if (tail !== undefined) node.extend(tail);
    }
    node.inode.mtimeMs = before.mtimeMs;
    node.inode.mtimeNs = mtimeNs === undefined ? undefined : BigInt(mtimeNs);
  }

  #takeKept(place: string | undefined): PastNode | undefined {
    const node = place === undefined ? undefined : this.keptAt(place);
    if (place !== undefined) this.#kept.set(place, undefined);
    return node;
  }

  #detach(path: string): PastNode | undefined {
    const [folder, name] = splitPath(path);
    const node = this.find(path);
    if (node !== undefined) this.find(folder)?.setChild(name, undefined);
    return node;
  }

  #attach(path: string, node: PastNode): void {
    let folder = this.#top;
    const names = namesOf(path);
    const last = names.pop() as string;
    for (const name of names) {
      let next = orMissing(() => folder.child(name));
      if (next?.type !== 'directory') {
        next = this.#unknown(UNKNOWN_FOLDER);
        folder.setChild(name, next);
      }
      folder = next;
    }
    folder.setChild(last, node);
  }

  /** Makes an entry whose content is not there any more. A folder is made again. */
  #unknown(state: EntryState): PastNode {
    const ino = state.type === 'directory' ? NOT_MADE_YET : state.ino;
    return new PastNode({ ...state, ino, pieces: undefined }, undefined, this.#inodes);
  }
}

/** The inode number of a folder that an undo will make again: it gets its number then. */
export const NOT_MADE_YET = 0;

const UNKNOWN_FOLDER: EntryState = {
  type: 'directory',
  ino: NOT_MADE_YET,
  mode: 0o755,
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
};

/** Returns what is to be remembered of an entry. */
export function stateOfNode({ inode: { pieces: _, mtimeNs: __, ...state } }: PastNode): EntryState {
  return state;
}

/** Returns the names of a path from the top of a root. */
export function namesOf(path: string): string[] {
  return path === '' ? [] : path.split('/');
}

/** Returns the path of the folder that an entry is in, and its name. */
export function splitPath(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)];
}
