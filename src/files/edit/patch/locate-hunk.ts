import { FileError } from '../../errors.ts';
import { quotePair } from './binary-string.ts';
import { type FileLines, hashOf } from './file-lines.ts';
import type { Hunk, PatchLine } from './parse-patch.ts';
import { type PatchOptions, QUICK_COMPARISONS, TimeLimitExceeded } from './work-limits.ts';

/** The part of the file that a hunk replaces. */
export interface HunkPosition {
  readonly hunk: Hunk;
  /** Index of the first old line, or of the line before which a pure insertion goes. */
  readonly position: number;
  readonly end: number;
}

/**
 * Line comparisons that all searches of one patch may spend together. Hunks that stand where they say cost none of it;
 * it only stops a patch and a file made to be slow, which then fail as if not found.
 */
const SEARCH_BUDGET = 20_000_000;

/**
 * Finds where hunks go, in order, none overlapping. Every old line must be there; only the position may be off. The
 * stated position, moved by as much as the hunk before was off, wins if it fits. Else the nearest place that fits does,
 * and of two equally near the later, as in GNU patch. A pure insertion has nothing to search for and goes where it says.
 */
export class HunkLocator {
  readonly #file: FileLines;
  readonly #hunks: readonly Hunk[];
  #index: Map<number, number[]> | undefined;
  readonly #quick: boolean;
  #budget: number;
  #drift = 0;
  #floor = 0;

  constructor(file: FileLines, hunks: readonly Hunk[], { timeLimited: quick = false }: PatchOptions = {}) {
    this.#file = file;
    this.#hunks = hunks;
    this.#quick = quick;
    this.#budget = quick ? QUICK_COMPARISONS : SEARCH_BUDGET;
  }

  /** Hunks must be asked for in order. `topOnly` allows no place but the top of the file. Raises `patch_failed`. */
  locate(hunk: Hunk, topOnly: boolean): HunkPosition {
    const inserts = oldSide(hunk).length === 0;
    const stated = inserts && hunk.oldCount === 0 ? hunk.oldStart : Math.max(hunk.oldStart - 1, 0);
    // A file without lines has one place to insert at, whatever the header calls it.
    const atTop = topOnly || (inserts && this.#file.count === 0);
    const expected = atTop ? 0 : Math.max(stated + this.#drift, 0);
    const readings = withAndWithoutBlanks(hunk);

    let place = readings.map((reading) => this.#placeAt(reading, expected)).find((found) => found !== undefined);
    if (!topOnly) for (const reading of readings) place ??= this.#search(reading, expected);
    if (place === undefined) throw this.#mismatch(hunk, expected);
    this.#drift = place.position - stated;
    this.#floor = place.end;
    return place;
  }

  #placeAt(hunk: Hunk, position: number): HunkPosition | undefined {
    const old = oldSide(hunk);
    if (position < this.#floor || this.#firstDifference(hunk, old, position) !== undefined) return undefined;
    return { hunk, position, end: position + old.length };
  }

  /** Index of the first old line that is not in the file at `position`; `old.length` where only the end is wrong. */
  #firstDifference(hunk: Hunk, old: readonly PatchLine[], position: number): number | undefined {
    const difference = old.findIndex((line, index) => !this.#file.matches(position + index, line));
    if (difference !== -1) return difference;
    const end = position + old.length;
    return end > this.#file.count || (endsFile(hunk) && end < this.#file.count) ? old.length : undefined;
  }

  #search(hunk: Hunk, expected: number): HunkPosition | undefined {
    const old = oldSide(hunk);
    const [anchor, places] = this.#rarest(old);
    const first = lowerBound(places, this.#floor + anchor);
    let later = Math.max(lowerBound(places, expected + anchor), first);
    let earlier = later - 1;
    const distance = (index: number) => Math.abs((places[index] ?? Number.POSITIVE_INFINITY) - anchor - expected);
    while (this.#budget > 0 && (earlier >= first || later < places.length)) {
      const goesLater = earlier < first || distance(later) <= distance(earlier);
      const position = (places[goesLater ? later++ : earlier--] ?? 0) - anchor;
      const difference = this.#firstDifference(hunk, old, position);
      if (difference === undefined) return { hunk, position, end: position + old.length };
      this.#budget -= difference + 1;
    }
    if (this.#quick && this.#budget <= 0) throw new TimeLimitExceeded();
    return undefined;
  }

  /** The old line that the file holds least often: its index in the hunk, and where lines like it are. */
  #rarest(old: readonly PatchLine[]): [number, readonly number[]] {
    this.#index ??= this.#file.occurrences(new Set(this.#hunks.flatMap(oldSide).map(({ bare }) => hashOf(bare))));
    let best: [number, readonly number[]] | undefined;
    for (const [index, { bare }] of old.entries()) {
      const places = this.#index.get(hashOf(bare)) ?? [];
      if (best === undefined || places.length < best[1].length) best = [index, places];
    }
    return best ?? [0, []];
  }

  #mismatch(hunk: Hunk, expected: number): FileError<'patch_failed'> {
    const old = oldSide(hunk);
    const difference = this.#firstDifference(hunk, old, expected);
    const at = expected + (difference ?? 0);
    const line = old.length === 0 ? expected : at + 1;
    const problem = `hunk ${hunk.number} does not match at line ${line}: ${this.#explain(old, difference, at)}`;
    return new FileError('patch_failed', { problem, hunk: hunk.number, line });
  }

  #explain(old: readonly PatchLine[], difference: number | undefined, at: number): string {
    if (difference === undefined) return 'it overlaps the hunk before it';
    const wanted = old[difference];
    if (wanted === undefined) {
      if (at < this.#file.count) return 'the patch ends the file here, but more lines follow';
      return this.#file.count === 1 ? 'the file has 1 line' : `the file has ${this.#file.count} lines`;
    }
    if (at >= this.#file.count) return `expected ${quotePair(wanted.bare, '')[0]}, found the end of the file`;
    if (this.#file.hasText(at, wanted.bare)) return 'expected the file to end here without a newline';
    const [expected, found] = quotePair(wanted.bare, this.#file.bare(at));
    return `expected ${expected}, found ${found}`;
  }
}

export function oldSide(hunk: Hunk): PatchLine[] {
  return hunk.lines.filter(({ kind }) => kind !== '+');
}

/** Whether the new side stops without a newline, which only the last line of a file can. */
function endsFile(hunk: Hunk): boolean {
  return hunk.lines.findLast(({ kind }) => kind !== '-')?.newline === false;
}

function withAndWithoutBlanks(hunk: Hunk): Hunk[] {
  if (hunk.doubtfulBlanks === 0) return [hunk];
  return [hunk, { ...hunk, lines: hunk.lines.slice(0, -hunk.doubtfulBlanks), doubtfulBlanks: 0 }];
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
