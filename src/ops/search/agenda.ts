import type { Piece, Stretch } from './stretch.ts';

/** A place in the agenda: to do, under way, or found. */
export interface Item<F> {
  state: 'todo' | 'taken' | 'done';
  stretch: Stretch | undefined;
  found: F | undefined;
  next: Item<F> | undefined;
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

  /** Takes the first stretch that is left, at most `bytes` of a file; with `first`, only if nothing before it is open. */
  take(bytes: number, first: boolean): Item<F> | undefined {
    let item = this.#first;
    while (item !== undefined && item.state !== 'todo') item = first ? undefined : item.next;
    if (item === undefined) return undefined;
    this.#todo -= 1;
    item.state = 'taken';
    const { stretch } = item;
    if (stretch?.kind === 'lines' && stretch.range.to - stretch.range.from > bytes) {
      const middle = stretch.range.from + bytes;
      item.stretch = { ...stretch, range: { ...stretch.range, to: middle } };
      this.#insert(item, { ...stretch, range: { ...stretch.range, from: middle } });
    }
    return item;
  }

  /** Puts in the place of a taken stretch what it turned into. */
  replace(item: Item<F>, pieces: readonly Piece<F>[]): void {
    item.state = 'done';
    item.stretch = undefined;
    this.#done += 1;
    for (const piece of pieces.toReversed()) this.#insert(item, piece);
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
