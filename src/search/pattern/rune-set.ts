export const MAX_RUNE = 0x10ffff;

/**
 * A set of code points as the sorted places where membership changes: those from `set[0]` to before `set[1]` belong to
 * it, those from `set[1]` to before `set[2]` do not, and so on.
 */
export type RuneSet = Int32Array;

/** From pairs of first and last code point, sorted. */
export function runeSet(pairs: Int32Array): RuneSet {
  return pairs.map((rune, i) => rune + (i & 1));
}

/** How many changes there are up to and including this code point; odd means that it belongs to the set. */
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

/** The first code point of those around this one with the same membership. */
export function firstAlike(set: RuneSet, changes: number): number {
  return changes === 0 ? 0 : (set[changes - 1] as number);
}

/** The last of them. */
export function lastAlike(set: RuneSet, changes: number): number {
  return changes === set.length ? MAX_RUNE : (set[changes] as number) - 1;
}
