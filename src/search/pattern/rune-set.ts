/** The last Unicode code point. */
export const MAX_RUNE = 0x10ffff;

/**
 * A set of code points as an inversion list (https://en.wikipedia.org/wiki/Inversion_list): the sorted code points at
 * which membership changes. Those from `set[0]` up to but excluding `set[1]` belong to the set, those from `set[1]` up
 * to `set[2]` do not, and so on.
 */
export type RuneSet = Int32Array;

/** Creates a set from sorted pairs of first and last code point. */
export function runeSet(pairs: Int32Array): RuneSet {
  return pairs.map((rune, i) => rune + (i & 1));
}

/**
 * Returns how many changes there are up to and including a code point. An odd number means that it belongs to the set.
 */
export function changesUpTo(set: RuneSet, rune: number): number {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((set[middle] as number) <= rune) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first code point of the run of equal membership in which `changesUpTo` returned `changes`. */
export function runStart(set: RuneSet, changes: number): number {
  return changes === 0 ? 0 : (set[changes - 1] as number);
}

/** Returns the last code point of the run of equal membership in which `changesUpTo` returned `changes`. */
export function runEnd(set: RuneSet, changes: number): number {
  return changes === set.length ? MAX_RUNE : (set[changes] as number) - 1;
}
