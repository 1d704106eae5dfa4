import type { Stats } from 'node:fs';
import { type Dir, isFenceError, type Name, temporaryName } from '../fence/index.ts';
import { SEGMENT_NAME, segmentName } from './log/segment-folder.ts';
import type { Step, TimeChange } from './log/step.ts';

/** Part of the names of folders whose content is no longer kept. */
const EXPIRED = '-expired-';

/** An entry of an open folder. */
export interface DirEntry {
  readonly dir: Dir;
  readonly name: Name;
}

/** A place for a kept entry: an open folder and a name in it. Dispose of it after use. */
export interface KeptPlace extends Disposable {
  readonly dir: Dir;
  readonly name: string;
}

/** Makes the name of the place for what a step keeps: the folder of the step's segment, and a name in it. */
export function placeName(segment: number, step: Pick<Step, 'change' | 'number'>): string {
  return `${segmentName(segment)}/${nameInSegment(step)}`;
}

/** Reports whether a step keeps something at a place of its own. The steps of an undo may name that of another step. */
export function hasOwnPlace({ kept, ...step }: Pick<Step, 'change' | 'number' | 'kept'>): boolean {
  return kept !== undefined && split(kept)[1] === nameInSegment(step);
}

function nameInSegment({ change, number }: Pick<Step, 'change' | 'number'>): string {
  return `${change}-${number}`;
}

/**
 * The folder with all that the history of a root keeps: one folder for each segment of the log, in it one entry for
 * each step that has something to keep. Nobody but this user can enter it, whatever the modes of the entries.
 */
export class KeptEntries implements Disposable {
  readonly #dir: Dir;
  /** The folder of the segment that was used last, which stays open. */
  #recent: { readonly segment: string; readonly dir: Dir } | undefined;
  #flushed: Promise<unknown> = Promise.resolve();
  /** How many folders of segments this process has made, and how many of their names are on disk. */
  #made = 0;
  #madeOnDisk = 0;

  /** Takes over the folder. */
  constructor(dir: Dir) {
    this.#dir = dir;
  }

  /** Gives an entry a second name here, so that it stays when it is replaced. Reports whether the system can. */
  link({ dir, name }: DirEntry, place: string): boolean {
    const [segment, kept] = split(place);
    return dir.link(name, kept, this.#openRecent(segment));
  }

  /** Opens a place, whose folder is made if it is missing. */
  open(place: string): KeptPlace {
    const [segment, name] = split(place);
    const dir = this.#openOrMake(segment);
    return { dir, name, [Symbol.dispose]: () => dir[Symbol.dispose]() };
  }

  /** Reports whether the folder of a place is still there: it goes with the log of its time. */
  hasFolderOf(place: string): boolean {
    return this.#dir.has(split(place)[0]);
  }

  /** Stats what is kept at a place; undefined if there is nothing. */
  lstat(place: string): Stats | undefined {
    const [segment, name] = split(place);
    if (segment === this.#recent?.segment) return this.#recent.dir.lstat(name);
    using dir = this.#openIfPresent(segment);
    return dir?.lstat(name);
  }

  /**
   * Removes a file or link that is kept at a place, if there is one, and returns what that did to its change time, if it
   * has other names and the system tells.
   */
  discard(place: string): TimeChange | undefined {
    const [segment, name] = split(place);
    using dir = this.#openIfPresent(segment);
    if (dir === undefined) return undefined;
    using held = dir.holdOpen(name, { freeLater: false });
    const before = held?.stat();
    ignoreMissing(() => dir.unlink(name));
    const after = held?.stat();
    return before && after && { ino: after.ino, from: before.ctimeMs, to: after.ctimeMs };
  }

  /** Opens the folder with what the steps of a segment keep. Undefined if nothing is kept for them. */
  openSegment(segment: number): Dir | undefined {
    return this.#openIfPresent(segmentName(segment));
  }

  /** Returns the segments whose steps keep something. */
  segments(): number[] {
    return this.#dir.list().flatMap(({ name }) => (SEGMENT_NAME.test(name) ? [Number(name)] : []));
  }

  /** Takes away what the steps of a segment keep, in one step. It is removed by the next `removeExpired`. */
  expire(segment: number): void {
    const name = segmentName(segment);
    ignoreMissing(() => this.#dir.rename(name, this.#dir, `${name}${EXPIRED}${temporaryName()}`));
  }

  /** Removes what was taken away, by a function that removes a folder with everything in it. */
  async removeExpired(removeTree: (entry: DirEntry) => Promise<void>): Promise<void> {
    for (const { name } of this.#dir.list()) if (name.includes(EXPIRED)) await removeTree({ dir: this.#dir, name });
  }

  /** Flushes to disk the names of what is kept at places. */
  async flush(places: readonly string[]): Promise<void> {
    const made = this.#made;
    const segments = [...new Set(places.map((place) => split(place)[0]))];
    const flushed = Promise.all(segments.map((segment) => this.#sync(segment)));
    this.#flushed = Promise.allSettled([this.#flushed, flushed]);
    await Promise.all([flushed, made > this.#madeOnDisk && this.#dir.sync()]);
    this.#madeOnDisk = Math.max(this.#madeOnDisk, made);
  }

  async #sync(segment: string): Promise<void> {
    if (segment === this.#recent?.segment) {
      await this.#recent.dir.sync();
      return;
    }
    using dir = this.#openIfPresent(segment);
    await dir?.sync();
  }

  [Symbol.dispose](): void {
    this.#recent?.dir[Symbol.dispose]();
    this.#dir[Symbol.dispose]();
  }

  #openIfPresent(segment: string): Dir | undefined {
    return ignoreMissing(() => this.#dir.openDir(segment));
  }

  #openOrMake(segment: string): Dir {
    try {
      this.#dir.mkdir(segment, 0o700);
      this.#made += 1;
    } catch (error) {
      if (!isFenceError(error, 'already_exists')) throw error;
    }
    return this.#dir.openDir(segment);
  }

  #openRecent(segment: string): Dir {
    const recent = this.#recent;
    if (recent?.segment === segment) return recent.dir;
    const dir = this.#openOrMake(segment);
    this.#recent = { segment, dir };
    // A flush under way still uses the former one.
    if (recent !== undefined) void this.#flushed.then(() => recent.dir[Symbol.dispose]());
    return dir;
  }
}

function split(place: string): [segment: string, name: string] {
  const [segment = '', name = ''] = place.split('/');
  return [segment, name];
}

/** Runs `work`; returns undefined if the entry is missing. */
function ignoreMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
    return undefined;
  }
}
