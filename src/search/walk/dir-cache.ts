import type { Dir, Name } from '../../fence/index.ts';

/** Enough for a folder and its neighbors; the depth of the tree does not matter. */
const MAX_OPEN = 16;

/** A folder below the start of a search, identified by its parent and its name. */
export interface DirNode {
  /** Undefined for the start of the search. */
  readonly parent: DirNode | undefined;
  readonly name: Name;
  /** Path relative to the start of the search, for display and matching only; empty for the start itself. */
  readonly path: string;
  /** 0 for the start of the search. */
  readonly depth: number;
}

/** The start of a search. */
export const START_NODE: DirNode = { parent: undefined, name: '.', path: '', depth: 0 };

/** Returns the node of a folder in a folder. */
export function childNode(parent: DirNode, name: Name): DirNode {
  return { parent, name, path: childPath(parent, name.toString()), depth: parent.depth + 1 };
}

/** Returns the path of an entry relative to the start of the search, for display and matching only. */
export function childPath(node: DirNode, name: string): string {
  return node.path === '' ? name : `${node.path}/${name}`;
}

/**
 * LRU cache of open folders. Each folder is opened by name from its open parent and never through a symbolic link (see
 * `O_NOFOLLOW` in https://man7.org/linux/man-pages/man2/open.2.html), so everything it opens is inside the root, also
 * while others move folders. Holds at most 16 descriptors, however deep the tree is.
 */
export class DirCache implements Disposable {
  readonly #openStart: () => Dir;
  /** Least recently used first. */
  readonly #open = new Map<DirNode, Dir>();

  /** The folder opened last, which is requested again for each of its files. */
  #last: { readonly node: DirNode; readonly dir: Dir } | undefined;

  constructor(openStart: () => Dir) {
    this.#openStart = openStart;
  }

  /**
   * Returns the open folder. It stays open until 16 others were used after it. Raises what opening the folder or an
   * ancestor raises.
   */
  open(node: DirNode): Dir {
    if (node === this.#last?.node) return this.#last.dir;
    const dir = this.#enter(node);
    this.#last = { node, dir };
    return dir;
  }

  [Symbol.dispose](): void {
    this.#last = undefined;
    while (this.#open.size > 0) this.#closeOldest();
  }

  #enter(node: DirNode): Dir {
    const missing: DirNode[] = [];
    let known: DirNode | undefined = node;
    while (known !== undefined && !this.#open.has(known)) {
      missing.push(known);
      known = known.parent;
    }
    let dir = known === undefined ? undefined : this.#touch(known);
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      dir = dir === undefined ? this.#openStart() : dir.openDirForListing(next.name);
      this.#open.set(next, dir);
      if (this.#open.size > MAX_OPEN) this.#closeOldest();
    }
    return dir as Dir;
  }

  #touch(node: DirNode): Dir {
    const dir = this.#open.get(node) as Dir;
    this.#open.delete(node);
    this.#open.set(node, dir);
    return dir;
  }

  #closeOldest(): void {
    for (const [node, dir] of this.#open) {
      this.#open.delete(node);
      dir[Symbol.dispose]();
      return;
    }
  }
}
