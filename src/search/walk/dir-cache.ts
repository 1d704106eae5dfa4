import type { Dir, Name } from '../../fence/index.ts';

/** Enough for a folder and those around it; the depth of a tree does not matter. */
const MAX_OPEN = 16;

/** A folder below the start of a search, known by the way to it. */
export interface DirNode {
  /** Undefined for the start itself. */
  readonly parent: DirNode | undefined;
  readonly name: Name;
  /** Relative to the start, for people; empty for the start. */
  readonly path: string;
  /** 0 for the start. */
  readonly depth: number;
}

export const START_NODE: DirNode = { parent: undefined, name: '.', path: '', depth: 0 };

export function childNode(parent: DirNode, name: Name): DirNode {
  return { parent, name, path: childPath(parent, name.toString()), depth: parent.depth + 1 };
}

export function childPath(node: DirNode, name: string): string {
  return node.path === '' ? name : `${node.path}/${name}`;
}

/**
 * Opens folders step by step, each from its opened parent and never through a link, and keeps the last few open.
 * However folders are moved about meanwhile, what it opens lies inside the root.
 */
export class DirCache implements Disposable {
  readonly #openStart: () => Dir;
  /** The least recently used first. */
  readonly #open = new Map<DirNode, Dir>();

  /** Where it is, which is asked for again for each file. */
  #last: { readonly node: DirNode; readonly dir: Dir } | undefined;

  constructor(openStart: () => Dir) {
    this.#openStart = openStart;
  }

  /** The folder, open until the trail has gone through some others. Raises what opening it raises. */
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
