import { FileError } from '../../errors.ts';
import { quotePair } from './binary-string.ts';
import { type FileLines, hashOf } from './file-lines.ts';
import type { Hunk, PatchLine } from './parse-patch.ts';
import { MAX_COMPARISONS, type PatchOptions, QUICK_COMPARISONS, WorkLimitExceeded } from './work-limits.ts';

/** The lines of a file that a hunk replaces. */
export interface HunkPosition {
  readonly hunk: Hunk;
  /** The index of the first old line, or of the line before which a pure insertion goes. */
  readonly position: number;
  /** The index after the last old line. */
  readonly end: number;
}

/**
 * Finds the positions of hunks, in order and without overlap. All old lines must match (no fuzz); only the position may differ.
 * As in GNU patch, the stated line plus the offset of the previous hunk is tried first, then the nearest position that matches;
 * of two equally near ones the later wins (https://www.gnu.org/software/diffutils/manual/html_node/Inexact.html). A pure
 * insertion has no old lines to search for and goes to its stated line.
 *
 * The search visits only the occurrences of the hunk's rarest old line, which a hash index of the file provides.
 */
export class HunkLocator {
  readonly #file: FileLines;
  readonly #hunks: readonly Hunk[];
  #index: Map<number, number[]> | undefined;
  readonly #workLimited: boolean;
  #budget: number;
  /** By how much the previous hunk was off. */
  #offset = 0;
  /** The end of the previous hunk: no position before it is allowed. */
  #floor = 0;

  /** Prepares to locate the hunks of one patch in a file. */
  constructor(file: FileLines, hunks: readonly Hunk[], { workLimited = false }: PatchOptions = {}) {
    this.#file = file;
    this.#hunks = hunks;
    this.#workLimited = workLimited;
    this.#budget = workLimited ? QUICK_COMPARISONS : MAX_COMPARISONS;
  }

  /**
   * Locates a hunk; hunks must be passed in order. `topOnly` allows only the top of the file. Raises `patch_failed` if the hunk
   * does not match, and `WorkLimitExceeded` if the locator is limited.
   */
  locate(hunk: Hunk, topOnly: boolean): HunkPosition {
    const inserts = oldSide(hunk).length === 0;
    const stated = inserts && hunk.oldCount === 0 ? hunk.oldStart : Math.max(hunk.oldStart - 1, 0);
    // An empty file has only one position to insert at, whatever the header says.
    const atTop = topOnly || (inserts && this.#file.count === 0);
    const expected = atTop ? 0 : Math.max(stated + this.#offset, 0);
    const variants = withAndWithoutBlanks(hunk);

    let found = variants.map((variant) => this.#matchAt(variant, expected)).find((match) => match !== undefined);
    if (!topOnly) for (const variant of variants) found ??= this.#search(variant, expected);
    if (found === undefined) throw this.#mismatch(hunk, expected);
    this.#offset = found.position - stated;
    this.#floor = found.end;
    return found;
  }

  #matchAt(hunk: Hunk, position: number): HunkPosition | undefined {
    const old = oldSide(hunk);
    if (position < this.#floor || this.#firstDifference(hunk, old, position) !== undefined) return undefined;
    return { hunk, position, end: position + old.length };
  }

  /** Returns the index of the first old line that differs at `position`; `old.length` if only the end of the file does. */
  #firstDifference(hunk: Hunk, old: readonly PatchLine[], position: number): number | undefined {
    const difference = old.findIndex((line, index) => !this.#file.matches(position + index, line));
    if (difference !== -1) return difference;
    const end = position + old.length;
    return end > this.#file.count || (endsFile(hunk) && end < this.#file.count) ? old.length : undefined;
  }

  /** Searches outwards from `expected` for the nearest match. */
  #search(hunk: Hunk, expected: number): HunkPosition | undefined {
    const old = oldSide(hunk);
    const [anchor, occurrences] = this.#rarest(old);
    const first = lowerBound(occurrences, this.#floor + anchor);
    let later = Math.max(lowerBound(occurrences, expected + anchor), first);
    let earlier = later - 1;
    const distance = (index: number) => Math.abs((occurrences[index] ?? Number.POSITIVE_INFINITY) - anchor - expected);
    while (this.#budget > 0 && (earlier >= first || later < occurrences.length)) {
      const goesLater = earlier < first || distance(later) <= distance(earlier);
      const position = (occurrences[goesLater ? later++ : earlier--] ?? 0) - anchor;
      const difference = this.#firstDifference(hunk, old, position);
      if (difference === undefined) return { hunk, position, end: position + old.length };
      this.#budget -= difference + 1;
    }
    if (this.#workLimited && this.#budget <= 0) throw new WorkLimitExceeded();
    return undefined;
  }

  /** Returns the index of the old line that is rarest in the file, and where the file has lines with its hash. */
  #rarest(old: readonly PatchLine[]): [number, readonly number[]] {
    this.#index ??= this.#file.occurrences(new Set(this.#hunks.flatMap(oldSide).map(({ bare }) => hashOf(bare))));
    let best: [number, readonly number[]] | undefined;
    for (const [index, { bare }] of old.entries()) {
      const occurrences = this.#index.get(hashOf(bare)) ?? [];
      if (best === undefined || occurrences.length < best[1].length) best = [index, occurrences];
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

/** Returns the context and removed lines of a hunk: what the file must contain. */
export function oldSide(hunk: Hunk): PatchLine[] {
  return hunk.lines.filter(({ kind }) => kind !== '+');
}

/** Reports whether the new side ends without a newline, which only the last line of a file can. */
function endsFile(hunk: Hunk): boolean {
  return hunk.lines.findLast(({ kind }) => kind !== '-')?.newline === false;
}

/** Returns the two readings of a hunk whose trailing blank lines may or may not belong to it. */
function withAndWithoutBlanks(hunk: Hunk): Hunk[] {
  if (hunk.ambiguousBlanks === 0) return [hunk];
  return [hunk, { ...hunk, lines: hunk.lines.slice(0, -hunk.ambiguousBlanks), ambiguousBlanks: 0 }];
}

/** Returns the index of the first element that is not less than `value`, by binary search. */
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
