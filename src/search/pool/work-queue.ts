import { packNames, unpackNames, type WorkResult, type WorkUnit } from './work-unit.ts';

/** Maximum load of one task: 16 folders, files whose names take 4 KB, or one range of a large file. */
const MAX_LOAD = 16;
const NAMES_PER_LOAD = 256;

/** A node of the queue: a unit to do, a unit taken by a task, or a result. */
export interface QueueItem<F> {
  state: 'todo' | 'taken' | 'done';
  unit: WorkUnit | undefined;
  found: F | undefined;
  next: QueueItem<F> | undefined;
}

interface TakeOptions {
  /** Maximum number of bytes of a large file. */
  readonly bytes: number;
  /** Takes units only if no unit before them is unfinished. */
  readonly atFront: boolean;
  /** Number of tasks to share the remaining units among, including this one. */
  readonly takers: number;
}

/**
 * The work units and results of a search as a linked list in path order. Units that were taken are replaced by what
 * they turned into; results leave at the front as soon as no unfinished unit precedes them.
 */
export class WorkQueue<F> {
  #first: QueueItem<F> | undefined = { state: 'todo', unit: { kind: 'start' }, found: undefined, next: undefined };
  #todo = 1;
  #done = 0;

  /** Number of units that no task has taken. */
  get untaken(): number {
    return this.#todo;
  }

  /** Number of results that are held back by an unfinished unit. */
  get buffered(): number {
    return this.#done;
  }

  /** Whether every unit is finished and every result was shifted. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /**
   * Takes the first run of adjacent units for one task. Splits a large file, and the files of a folder when there are
   * fewer units than takers.
   */
  take({ bytes, atFront, takers }: TakeOptions): QueueItem<F>[] {
    const items: QueueItem<F>[] = [];
    const most = Math.ceil(this.#todo / takers);
    const parts = this.#todo < takers ? takers : 1;
    let item = this.#first;
    while (item !== undefined && !this.#isReady(item)) item = atFront && item.state !== 'done' ? undefined : item.next;
    for (let load = 0; item?.unit !== undefined && this.#isReady(item); item = item.next) {
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

  /** Whether a task may take a unit. */
  #isReady(item: QueueItem<F>): boolean {
    if (item.state !== 'todo' || item.unit === undefined) return false;
    return !('inTurn' in item.unit) || this.isFirst(item);
  }

  /** Whether an item is the first one, so that nothing before it is unfinished. */
  isFirst(item: QueueItem<F> | undefined): boolean {
    return item !== undefined && item === this.#first;
  }

  /** Replaces taken units by their results, which must be in path order. */
  replace(items: readonly QueueItem<F>[], results: readonly WorkResult<F>[]): void {
    for (const item of items) {
      item.state = 'done';
      item.unit = undefined;
      this.#done += 1;
    }
    const last = items.at(-1);
    if (last !== undefined) for (const result of results.toReversed()) this.#insert(last, result);
  }

  /**
   * Removes and returns the next result in path order, or undefined if an unfinished unit precedes it or nothing is
   * left.
   */
  shift(): F | undefined {
    while (this.#first?.state === 'done') {
      const { found, next } = this.#first;
      this.#first = next;
      this.#done -= 1;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Leaves all but the first `bytes` bytes of a large file as a new unit. */
  #cutLines(item: QueueItem<F>, bytes: number): void {
    const { unit } = item;
    if (unit?.kind !== 'lines' || unit.range.to - unit.range.from <= bytes) return;
    const middle = unit.range.from + bytes;
    item.unit = { ...unit, range: { ...unit.range, to: middle } };
    this.#insert(item, { ...unit, range: { ...unit.range, from: middle } });
  }

  /**
   * Leaves all but the first of `parts` equal parts of a list of files as a new unit: even a few files can take long.
   */
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
