import { packNames, unpackNames, type WorkResult, type WorkUnit } from './work-unit.ts';

/** How much is taken at once: so many folders, or files as long as their names fit in 4 KB, or a part of a large file. */
const MAX_LOAD = 16;
const NAMES_PER_LOAD = 256;

/** A place in the agenda: to do, under way, or found. */
export interface QueueItem<F> {
  state: 'todo' | 'taken' | 'done';
  unit: WorkUnit | undefined;
  found: F | undefined;
  next: QueueItem<F> | undefined;
}

interface TakeOptions {
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
export class WorkQueue<F> {
  #first: QueueItem<F> | undefined = { state: 'todo', unit: { kind: 'start' }, found: undefined, next: undefined };
  #todo = 1;
  #done = 0;

  /** How many stretches nobody has taken. */
  get untaken(): number {
    return this.#todo;
  }

  /** How many finds wait for something before them. */
  get buffered(): number {
    return this.#done;
  }

  /** Everything was found and has come out. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Takes the first stretches that are left and follow each other, as many as make sense in one go. */
  take({ bytes, atFront, takers }: TakeOptions): QueueItem<F>[] {
    const items: QueueItem<F>[] = [];
    const most = Math.ceil(this.#todo / takers);
    const parts = this.#todo < takers ? takers : 1;
    let item = this.#first;
    while (item !== undefined && item.state !== 'todo')
      item = atFront && item.state === 'taken' ? undefined : item.next;
    for (let load = 0; item?.unit !== undefined && item.state === 'todo'; item = item.next) {
      load += loadOf(item.unit);
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
  replace(items: readonly QueueItem<F>[], results: readonly WorkResult<F>[]): void {
    for (const item of items) {
      item.state = 'done';
      item.unit = undefined;
      this.#done += 1;
    }
    const last = items.at(-1);
    if (last !== undefined) for (const result of results.toReversed()) this.#insert(last, result);
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
  #cutLines(item: QueueItem<F>, bytes: number): void {
    const { unit } = item;
    if (unit?.kind !== 'lines' || unit.range.to - unit.range.from <= bytes) return;
    const middle = unit.range.from + bytes;
    item.unit = { ...unit, range: { ...unit.range, to: middle } };
    this.#insert(item, { ...unit, range: { ...unit.range, from: middle } });
  }

  /** Leaves all but the first of some equal parts for others: even a few files may be a lot to search. */
  #cutFiles(item: QueueItem<F>, parts: number): void {
    const { unit } = item;
    if (unit?.kind !== 'files' || parts === 1) return;
    const names = unpackNames(unit.names);
    const end = Math.ceil(names.length / parts);
    if (end === names.length) return;
    item.unit = { ...unit, names: packNames(names.slice(0, end)) };
    this.#insert(item, { ...unit, names: packNames(names.slice(end)) });
  }

  #insert(after: QueueItem<F>, result: WorkResult<F>): void {
    const item: QueueItem<F> = { state: 'taken', unit: undefined, found: undefined, next: after.next };
    after.next = item;
    if (result.kind === 'found') {
      item.state = 'done';
      item.found = result.found;
      this.#done += 1;
    } else if (result.kind !== 'unfinished') {
      item.state = 'todo';
      item.unit = result;
      this.#todo += 1;
    }
  }
}

function loadOf(unit: WorkUnit): number {
  if (unit.kind === 'files') return unit.names.length / NAMES_PER_LOAD;
  return unit.kind === 'lines' ? MAX_LOAD : 1;
}
