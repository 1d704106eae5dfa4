import type { Dir, Name } from '../../fence/index.ts';

/** Enough for a folder and those around it; the depth of a tree does not matter. */
const MAX_OPEN = 16;

/** A folder below the start of a search, known by the way to it. */
export interface Place {
  /** Undefined for the start itself. */
  readonly parent: Place | undefined;
  readonly name: Name;
  /** Relative to the start, for people; empty for the start. */
  readonly path: string;
  /** 0 for the start. */
  readonly depth: number;
}

export const START: Place = { parent: undefined, name: '.', path: '', depth: 0 };

export function placeIn(parent: Place, name: Name): Place {
  return { parent, name, path: pathIn(parent, name.toString()), depth: parent.depth + 1 };
}

export function pathIn(place: Place, name: string): string {
  return place.path === '' ? name : `${place.path}/${name}`;
}

/**
 * Opens folders step by step, each from its opened parent and never through a link, and keeps the last few open.
 * However folders are moved about meanwhile, what it opens lies inside the root.
 */
export class Trail implements Disposable {
  readonly #openStart: () => Dir;
  /** The least recently used first. */
  readonly #open = new Map<Place, Dir>();

  /** Where it is, which is asked for again for each file. */
  #last: { readonly place: Place; readonly dir: Dir } | undefined;

  constructor(openStart: () => Dir) {
    this.#openStart = openStart;
  }

  /** The folder, open until the trail has gone through some others. Raises what opening it raises. */
  enter(place: Place): Dir {
    if (place === this.#last?.place) return this.#last.dir;
    const dir = this.#enter(place);
    this.#last = { place, dir };
    return dir;
  }

  [Symbol.dispose](): void {
    this.#last = undefined;
    while (this.#open.size > 0) this.#closeOldest();
  }

  #enter(place: Place): Dir {
    const missing: Place[] = [];
    let known: Place | undefined = place;
    while (known !== undefined && !this.#open.has(known)) {
      missing.push(known);
      known = known.parent;
    }
    let dir = known === undefined ? undefined : this.#touch(known);
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      dir = dir === undefined ? this.#openStart() : dir.openDirToList(next.name);
      this.#open.set(next, dir);
      if (this.#open.size > MAX_OPEN) this.#closeOldest();
    }
    return dir as Dir;
  }

  #touch(place: Place): Dir {
    const dir = this.#open.get(place) as Dir;
    this.#open.delete(place);
    this.#open.set(place, dir);
    return dir;
  }

  #closeOldest(): void {
    for (const [place, dir] of this.#open) {
      this.#open.delete(place);
      dir[Symbol.dispose]();
      return;
    }
  }
}
