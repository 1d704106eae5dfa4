/** Lines `[oldStart, oldEnd)` of one text that became lines `[newStart, newEnd)` of another, indexed from 0. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** The most cells of the table that finds a longest common subsequence, for one range and for all of them together. */
const MAX_CELLS = 250_000;
const MAX_ALL_CELLS = 2_000_000;
/** How often a range is divided at its anchors. */
const MAX_DEPTH = 8;

/**
 * Returns the lines that differ between two texts, in order. Ranges are divided at lines that are unique on both sides
 * (patience diff, https://bramcohen.livejournal.com/73318.html), and small ones solved by a longest common subsequence.
 * Takes time nearly linear in the number of lines for any input, so the result of a large input is right but may not be
 * minimal.
 */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const ids = new Map<string, number>();
  const idOf = (line: string): number => {
    const known = ids.get(line);
    if (known !== undefined) return known;
    ids.set(line, ids.size);
    return ids.size - 1;
  };
  const differ = new LineDiffer(before.map(idOf), after.map(idOf));
  differ.compare({ oldStart: 0, oldEnd: before.length, newStart: 0, newEnd: after.length }, 0);
  return differ.changes;
}

class LineDiffer {
  readonly changes: LineChange[] = [];
  readonly #before: readonly number[];
  readonly #after: readonly number[];
  #cells = MAX_ALL_CELLS;

  constructor(before: readonly number[], after: readonly number[]) {
    this.#before = before;
    this.#after = after;
  }

  compare(whole: LineChange, depth: number): void {
    const range = this.#trim(whole);
    const { oldStart, oldEnd, newStart, newEnd } = range;
    const cells = (oldEnd - oldStart) * (newEnd - newStart);
    if (oldStart === oldEnd && newStart === newEnd) return;
    if (cells > 0 && cells <= MAX_CELLS && cells <= this.#cells) {
      this.#cells -= cells;
      this.#solve(range);
      return;
    }
    const anchors = cells === 0 || depth === MAX_DEPTH ? [] : this.#anchors(range);
    if (anchors.length === 0) {
      this.changes.push(range);
      return;
    }
    let from = { oldStart, newStart };
    for (const [old, now] of anchors) {
      this.compare({ ...from, oldEnd: old, newEnd: now }, depth + 1);
      from = { oldStart: old + 1, newStart: now + 1 };
    }
    this.compare({ ...from, oldEnd, newEnd }, depth + 1);
  }

  #trim({ oldStart, oldEnd, newStart, newEnd }: LineChange): LineChange {
    while (oldStart < oldEnd && newStart < newEnd && this.#before[oldStart] === this.#after[newStart]) {
      oldStart++;
      newStart++;
    }
    while (oldStart < oldEnd && newStart < newEnd && this.#before[oldEnd - 1] === this.#after[newEnd - 1]) {
      oldEnd--;
      newEnd--;
    }
    return { oldStart, oldEnd, newStart, newEnd };
  }

  /** Adds the changes that a longest common subsequence of the range leaves. */
  #solve({ oldStart, oldEnd, newStart, newEnd }: LineChange): void {
    const width = newEnd - newStart + 1;
    const lengths = new Uint32Array((oldEnd - oldStart + 1) * width);
    const at = (old: number, now: number): number => lengths[(old - oldStart) * width + now - newStart] ?? 0;
    for (let old = oldEnd - 1; old >= oldStart; old--) {
      for (let now = newEnd - 1; now >= newStart; now--) {
        const same = this.#before[old] === this.#after[now];
        lengths[(old - oldStart) * width + now - newStart] = same
          ? at(old + 1, now + 1) + 1
          : Math.max(at(old + 1, now), at(old, now + 1));
      }
    }
    let change = { oldStart, newStart };
    let old = oldStart;
    let now = newStart;
    const close = (): void => {
      if (old > change.oldStart || now > change.newStart) this.changes.push({ ...change, oldEnd: old, newEnd: now });
    };
    while (old < oldEnd && now < newEnd) {
      if (this.#before[old] === this.#after[now]) {
        close();
        change = { oldStart: ++old, newStart: ++now };
      } else if (at(old + 1, now) >= at(old, now + 1)) old++;
      else now++;
    }
    old = oldEnd;
    now = newEnd;
    close();
  }

  /** Returns the pairs of lines that are unique in both ranges, the most that are in the same order in both. */
  #anchors({ oldStart, oldEnd, newStart, newEnd }: LineChange): [old: number, now: number][] {
    const unique = (lines: readonly number[], from: number, to: number): Map<number, number> => {
      const found = new Map<number, number>();
      for (let index = from; index < to; index++) {
        const line = lines[index] ?? 0;
        found.set(line, found.has(line) ? -1 : index);
      }
      return found;
    };
    const after = unique(this.#after, newStart, newEnd);
    const pairs: [number, number][] = [];
    for (const [line, old] of unique(this.#before, oldStart, oldEnd)) {
      const now = after.get(line) ?? -1;
      if (old !== -1 && now !== -1) pairs.push([old, now]);
    }
    return longestIncreasing(pairs.sort(([a], [b]) => a - b));
  }
}

/** Returns a longest subsequence of pairs whose second members increase (patience sorting). */
function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  const tops: number[] = [];
  const previous: number[] = [];
  for (const [index, [, now]] of pairs.entries()) {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[tops[middle] ?? 0]?.[1] ?? 0) < now) low = middle + 1;
      else high = middle;
    }
    previous[index] = tops[low - 1] ?? -1;
    tops[low] = index;
  }
  const chain: [number, number][] = [];
  for (let index = tops.at(-1) ?? -1; index !== -1; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}
