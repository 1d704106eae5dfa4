import { FileError } from '../../errors.ts';
import { quotePair } from '../text/binary-string.ts';
import { lowerBound } from '../text/lower-bound.ts';
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

/** How many places a message names. */
const MAX_NAMED = 10;
/** How many places are compared to explain why a hunk fits nowhere. */
const MAX_NEAR_MISSES = 1_000;

/**
 * Finds the positions of hunks, in order and without overlap. All old lines must match (no fuzz); only the position may
 * differ. As in GNU patch, the stated line plus the offset of the previous hunk is tried first. Elsewhere a hunk must
 * fit at one place only, and so must a hunk below a bare `@@`, which states no line. A pure insertion without context
 * has no old lines to search for and goes to its stated line.
 *
 * A hunk with little context is anchored to the beginning or the end of the file, as in git and GNU patch: see
 * `Anchoring`.
 *
 * The search visits only the occurrences of the hunk's rarest old line, which a hash index of the file provides.
 */
export class HunkLocator {
  readonly #file: FileLines;
  readonly #hunks: readonly Hunk[];
  #index: Map<number, number[]> | undefined;
  readonly #workLimited: boolean;
  readonly #anchoring = new Anchoring();
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
   * Locates a hunk; hunks must be passed in order. `topOnly` allows only the top of the file. Raises `patch_failed` if
   * the hunk does not match or fits in several places, and `WorkLimitExceeded` if the locator is limited.
   */
  locate(hunk: Hunk, topOnly: boolean): HunkPosition {
    const found = hunk.oldStart === undefined && !topOnly ? this.#locateBare(hunk) : this.#locateStated(hunk, topOnly);
    this.#floor = found.end;
    return found;
  }

  #locateStated(hunk: Hunk, topOnly: boolean): HunkPosition {
    const oldStart = hunk.oldStart ?? 0;
    const inserts = oldSide(hunk).length === 0;
    const stated = inserts && hunk.oldCount === 0 ? oldStart : Math.max(oldStart - 1, 0);
    // An empty file has only one position to insert at, whatever the header says.
    const atTop = topOnly || (inserts && this.#file.count === 0);
    const expected = atTop ? 0 : Math.max(stated + this.#offset, 0);
    const variants = withAndWithoutBlanks(hunk);

    let found = variants.map((variant) => this.#matchAt(variant, expected)).find((match) => match !== undefined);
    if (!topOnly && !inserts) {
      for (const variant of variants) found ??= this.#onlyMatch(variant, expected);
    }
    if (found === undefined) throw this.#mismatch(hunk, expected);
    if (!this.#anchoring.accept(found, this.#file.count)) throw this.#anchored(found);
    this.#offset = found.position - stated;
    return found;
  }

  #locateBare(hunk: Hunk): HunkPosition {
    const fail = (line: number, what: string): FileError<'patch_failed'> =>
      new FileError('patch_failed', { problem: `hunk ${hunk.number} ${what}`, hunk: hunk.number, line });
    if (oldSide(hunk).length === 0) {
      if (this.#file.count === 0) return { hunk, position: 0, end: 0 };
      throw fail(
        1,
        'has no line to find its place by: add context, or the line number: "@@ -line,count +line,count @@"',
      );
    }
    for (const variant of withAndWithoutBlanks(hunk)) {
      const [found, ...others] = this.#allMatches(variant, 0, 0);
      if (found === undefined) continue;
      const line = found.position + 1;
      if (others.length > 0) throw fail(line, `${fitsAt([found, ...others])}: add context, or the line number`);
      if (found.position < this.#floor)
        throw fail(line, `fits only at line ${line}, above the end of the hunk before it`);
      if (this.#isRepeated(found)) throw fail(line, `is already applied: the lines it adds stand at line ${line}`);
      return found;
    }
    throw this.#mismatch(hunk, 0, 'nowhere');
  }

  #matchAt(hunk: Hunk, position: number): HunkPosition | undefined {
    const old = oldSide(hunk);
    if (position < this.#floor || this.#firstDifference(hunk, old, position) !== undefined) return undefined;
    return { hunk, position, end: position + old.length };
  }

  /**
   * Returns the index of the first old line that differs at `position`; `old.length` if only the end of the file does.
   */
  #firstDifference(
    hunk: Hunk,
    old: readonly PatchLine[],
    position: number,
    exactEnd = endsFile(hunk),
  ): number | undefined {
    const difference = this.#firstOtherLine(old, position, exactEnd);
    if (difference !== undefined) return difference;
    const end = position + old.length;
    return end > this.#file.count || (endsFile(hunk) && end < this.#file.count) ? old.length : undefined;
  }

  #firstOtherLine(old: readonly PatchLine[], position: number, exactEnd: boolean): number | undefined {
    const index = old.findIndex((line, at) => !this.#file.matches(position + at, line, exactEnd));
    return index === -1 ? undefined : index;
  }

  /**
   * Returns the only place that a hunk fits at, away from the line where it is expected. Raises `patch_failed` for
   * several.
   */
  #onlyMatch(hunk: Hunk, expected: number): HunkPosition | undefined {
    const matches = this.#allMatches(hunk, expected, this.#floor, true);
    const [found, ...others] = matches;
    // Where the hunk fits but for the end of the file that it claims, it is not moved to that end.
    if (found === undefined || (endsFile(hunk) && this.#firstOtherLine(oldSide(hunk), expected, true) === undefined))
      return undefined;
    const at = `hunk ${hunk.number} does not match at line ${expected + 1}`;
    const fail = (what: string): FileError<'patch_failed'> =>
      new FileError('patch_failed', { problem: `${at}, ${what}`, hunk: hunk.number, line: expected + 1 });
    // Also where anchoring would leave one of them: what the patch was made for is not known.
    if (others.length > 0) throw fail(`but ${fitsAt(matches)}: correct its line number or add context`);
    if (!this.#anchoring.allows(found, this.#file.count)) throw this.#anchored(found);
    if (this.#isRepeated(found))
      throw fail(`and is already applied: the lines it adds stand above line ${found.position + 1}`);
    return found;
  }

  /**
   * Returns the places from `floor` on that a hunk fits at, nearest first: all, or as many as a message names. With
   * `exactEnd`, the end of the file has to be as the hunk says: away from its line, a hunk gets no benefit of the
   * doubt.
   */
  #allMatches(hunk: Hunk, expected: number, floor: number, exactEnd = false): HunkPosition[] {
    const old = oldSide(hunk);
    const [anchor, occurrences] = this.#rarest(old);
    const first = lowerBound(occurrences, floor + anchor);
    let later = Math.max(lowerBound(occurrences, expected + anchor), first);
    let earlier = later - 1;
    const distance = (index: number) => Math.abs((occurrences[index] ?? Number.POSITIVE_INFINITY) - anchor - expected);
    const found: HunkPosition[] = [];
    while (this.#budget > 0 && (earlier >= first || later < occurrences.length)) {
      const goesLater = earlier < first || distance(later) <= distance(earlier);
      const position = (occurrences[goesLater ? later++ : earlier--] ?? 0) - anchor;
      const difference = this.#firstDifference(hunk, old, position, exactEnd || endsFile(hunk));
      this.#budget -= (difference ?? old.length) + 1;
      if (difference !== undefined) continue;
      found.push({ hunk, position, end: position + old.length });
      if (found.length > MAX_NAMED) break;
    }
    if (this.#workLimited && this.#budget <= 0) throw new WorkLimitExceeded();
    // A search that was cut short cannot tell whether the place is the only one.
    return this.#budget <= 0 && found.length === 1 ? [] : found;
  }

  /**
   * Reports whether a hunk that only adds lines, with context on one side, would add what already stands there: it was
   * applied before. Its context alone cannot show that.
   */
  #isRepeated({ hunk, position, end }: HunkPosition): boolean {
    const added = hunk.lines.filter(({ kind }) => kind === '+');
    if (hunk.lines.some(({ kind }) => kind === '-')) return false;
    const { leading, trailing } = contextOf(hunk);
    const standsAt = (from: number): boolean =>
      from >= 0 &&
      added.every(({ bare }, index) => from + index < this.#file.count && this.#file.hasText(from + index, bare));
    return (leading === 0 && standsAt(position - added.length)) || (trailing === 0 && standsAt(end));
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

  /** Returns the error for a hunk that fits at a place where its context does not allow it. */
  #anchored({ hunk, position, end }: HunkPosition): FileError<'patch_failed'> {
    const { trailing } = contextOf(hunk);
    const why =
      end < this.#file.count && trailing === 0
        ? 'without context after its change it can only stand at the end of the file: add the lines that follow'
        : 'with uneven context it can only stand at the beginning or the end of the file: add as much context before its change as after it';
    const line = position + 1;
    const problem = `hunk ${hunk.number} does not match at line ${line}: ${why}`;
    return new FileError('patch_failed', { problem, hunk: hunk.number, line });
  }

  #mismatch(hunk: Hunk, expected: number, where?: 'nowhere'): FileError<'patch_failed'> {
    const old = oldSide(hunk);
    if (where === 'nowhere') return this.#nearMiss(hunk, old);
    const difference = this.#firstDifference(hunk, old, expected);
    const at = expected + (difference ?? 0);
    const line = old.length === 0 ? expected : at + 1;
    const problem = `hunk ${hunk.number} does not match at line ${line}: ${this.#explain(old, difference, at)}`;
    return new FileError('patch_failed', { problem, hunk: hunk.number, line });
  }

  /**
   * Returns the error for a hunk without a line number that fits nowhere: it shows the place where most of its first
   * lines match.
   */
  #nearMiss(hunk: Hunk, old: readonly PatchLine[]): FileError<'patch_failed'> {
    let best = { position: 0, difference: -1 };
    const [anchor, occurrences] = this.#rarest(old.slice(0, 1));
    for (const occurrence of occurrences.slice(0, MAX_NEAR_MISSES)) {
      const position = occurrence - anchor;
      const difference = this.#firstDifference(hunk, old, position) ?? old.length;
      if (difference > best.difference) best = { position, difference };
    }
    return this.#mismatch(hunk, best.position);
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

/**
 * Where a hunk with little context may stand. Both programs take missing context for the edge of the file, but not by
 * the same rule. A patch is accepted if all its hunks follow one of the two, so nothing is applied that both would
 * refuse:
 * - `git apply` puts a hunk for line 0 or 1 at the beginning, and one without context after its change at the end
 *   (`apply_one_fragment`, https://github.com/git/git/blob/master/apply.c).
 * - GNU `patch` puts a hunk at the end if it has less context after its change than before it, and one for line 0 or 1
 *   at the beginning if it has less before (`locate_hunk`,
 *   https://git.savannah.gnu.org/cgit/patch.git/tree/src/patch.c).
 */
class Anchoring {
  #git = true;
  #gnu = true;

  /** Reports whether a hunk may stand at a place, given the hunks accepted so far. */
  allows(found: HunkPosition, lines: number): boolean {
    const { git, gnu } = this.#rules(found, lines);
    return git || gnu;
  }

  /** Accepts the place of a hunk; false if no rule allows it. */
  accept(found: HunkPosition, lines: number): boolean {
    const { git, gnu } = this.#rules(found, lines);
    this.#git = git;
    this.#gnu = gnu;
    return git || gnu;
  }

  #rules({ hunk, position, end }: HunkPosition, lines: number): { git: boolean; gnu: boolean } {
    const { leading, trailing } = contextOf(hunk);
    const isForTop = (hunk.oldStart ?? 0) <= 1;
    const atTop = position === 0;
    const atEnd = end === lines;
    return {
      git: this.#git && (!isForTop || atTop) && (trailing > 0 || atEnd),
      gnu: this.#gnu && (!isForTop || leading >= trailing || atTop) && (trailing >= leading || atEnd),
    };
  }
}

/** Returns how many context lines a hunk has before its first change and after its last. */
function contextOf({ lines }: Hunk): { leading: number; trailing: number } {
  const isChange = ({ kind }: PatchLine): boolean => kind !== ' ';
  return { leading: lines.findIndex(isChange), trailing: lines.length - 1 - lines.findLastIndex(isChange) };
}

/** Names the places that a hunk fits at, for a message. */
function fitsAt(matches: readonly HunkPosition[]): string {
  const numbers = matches.map(({ position }) => position + 1).sort((a, b) => a - b);
  const named = numbers.slice(0, MAX_NAMED).join(', ');
  return `fits at lines ${named}${numbers.length > MAX_NAMED ? ' and more' : ''}`;
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
