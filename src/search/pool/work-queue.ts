import { type Piece, packNames, type Stretch, unpackNames } from '../task/work-unit.ts';

/** How much is taken at once: so many folders, or files as long as their names fit in 4 KB, or a part of a large file. */
const MAX_LOAD = 16;
const NAMES_PER_LOAD = 256;

/** A place in the agenda: to do, under way, or found. */
export interface Item<F> {
  state: 'todo' | 'taken' | 'done';
  stretch: Stretch | undefined;
  found: F | undefined;
  next: Item<F> | undefined;
}

interface Share {
  /** At most so many bytes of a file. */
  readonly bytes: number;
  /** Only what has nothing open before it. */
  readonly atFront: boolean;
  /** Among how many to share what is left, this one included. */
  readonly takers: number;
}

/**
 * All of a search in path order: what was found, what is under way and what is left to do. A stretch that was taken is
 * replaced by the pieces it turned into; what was found comes out at the front, once nothing before it is open.
 */
export class Agenda<F> {
  #first: Item<F> | undefined = { state: 'todo', stretch: { kind: 'start' }, found: undefined, next: undefined };
  #todo = 1;
  #done = 0;

  /** How many stretches nobody has taken. */
  get todo(): number {
    return this.#todo;
  }

  /** How many finds wait for something before them. */
  get waiting(): number {
    return this.#done;
  }

  /** Everything was found and has come out. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Takes the first stretches that are left and follow each other, as many as make sense in one go. */
  take({ bytes, atFront, takers }: Share): Item<F>[] {
    const items: Item<F>[] = [];
    const most = Math.ceil(this.#todo / takers);
    const parts = this.#todo < takers ? takers : 1;
    let item = this.#first;
    while (item !== undefined && item.state !== 'todo')
      item = atFront && item.state === 'taken' ? undefined : item.next;
    for (let load = 0; item?.stretch !== undefined && item.state === 'todo'; item = item.next) {
      load += loadOf(item.stretch);
      if (items.length === most || (items.length > 0 && load > MAX_LOAD)) break;
      item.state = 'taken';
      this.#todo -= 1;
      this.#cutLines(item, bytes);
      this.#cutFiles(item, parts);
      items.push(item);
    }
    return items;
  }

  /** Puts in the place of taken stretches what they turned into. */
  replace(items: readonly Item<F>[], pieces: readonly Piece<F>[]): void {
    for (const item of items) {
      item.state = 'done';
      item.stretch = undefined;
      this.#done += 1;
    }
    const last = items.at(-1);
    if (last !== undefined) for (const piece of pieces.toReversed()) this.#insert(last, piece);
  }

  /** What was found next in path order; undefined if that is not known yet. */
  shift(): F | undefined {
    while (this.#first?.state === 'done') {
      const { found, next } = this.#first;
      this.#first = next;
      this.#done -= 1;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Leaves what is too much of a large file for later. */
  #cutLines(item: Item<F>, bytes: number): void {
    const { stretch } = item;
    if (stretch?.kind !== 'lines' || stretch.range.to - stretch.range.from <= bytes) return;
    const middle = stretch.range.from + bytes;
    item.stretch = { ...stretch, range: { ...stretch.range, to: middle } };
    this.#insert(item, { ...stretch, range: { ...stretch.range, from: middle } });
  }

  /** Leaves all but the first of some equal parts for others: even a few files may be a lot to search. */
  #cutFiles(item: Item<F>, parts: number): void {
    const { stretch } = item;
    if (stretch?.kind !== 'files' || parts === 1) return;
    const names = unpackNames(stretch.names);
    const end = Math.ceil(names.length / parts);
    if (end === names.length) return;
    item.stretch = { ...stretch, names: packNames(names.slice(0, end)) };
    this.#insert(item, { ...stretch, names: packNames(names.slice(end)) });
  }

  #insert(after: Item<F>, piece: Piece<F>): void {
    const item: Item<F> = { state: 'taken', stretch: undefined, found: undefined, next: after.next };
    after.next = item;
    if (piece.kind === 'found') {
      item.state = 'done';
      item.found = piece.found;
      this.#done += 1;
    } else if (piece.kind !== 'unfinished') {
      item.state = 'todo';
      item.stretch = piece;
      this.#todo += 1;
    }
  }
}

function loadOf(stretch: Stretch): number {
  if (stretch.kind === 'files') return stretch.names.length / NAMES_PER_LOAD;
  return stretch.kind === 'lines' ? MAX_LOAD : 1;
}
