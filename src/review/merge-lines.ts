import { diffLines, type LineChange } from '../files/edit/diff/diff-lines.ts';

/** What a three-way merge gives: the merged lines, or the lines of `base` that both sides changed, counted from 1. */
export type Merged = { readonly lines: string[] } | { readonly conflicts: readonly number[] };

/**
 * Merges two texts that were both made from `base`, as diff3 does (https://www.cis.upenn.edu/~bcpierce/papers/diff3-short.pdf).
 * What both changed in the same way is no conflict; changes next to each other are one. Takes time nearly linear in the
 * number of lines.
 */
export function mergeLines(base: readonly string[], ours: readonly string[], theirs: readonly string[]): Merged {
  const made = diffLines(base, ours);
  const conflicts: number[] = [];
  const parts: (readonly string[])[] = [];
  let at = 0;
  for (const wanted of diffLines(base, theirs)) {
    const { oldStart, oldEnd, newStart, newEnd } = wanted;
    const lines = theirs.slice(newStart, newEnd);
    const near = made.filter((change) => change.oldStart <= oldEnd && oldStart <= change.oldEnd);
    if (near.some((change) => isSame(change, wanted, ours.slice(change.newStart, change.newEnd), lines))) continue;
    if (near.length > 0) conflicts.push(oldStart + 1);
    const shift = shiftBefore(made, oldStart);
    parts.push(ours.slice(at, oldStart + shift), lines);
    at = oldEnd + shift;
  }
  return conflicts.length > 0 ? { conflicts } : { lines: [...parts, ours.slice(at)].flat() };
}

function isSame(a: LineChange, b: LineChange, made: readonly string[], wanted: readonly string[]): boolean {
  return a.oldStart === b.oldStart && a.oldEnd === b.oldEnd && made.join('') === wanted.join('');
}

/** Returns by how many lines changes move what stands at a line of the text before them. */
function shiftBefore(changes: readonly LineChange[], line: number): number {
  const last = changes.findLast(({ oldEnd }) => oldEnd <= line);
  return last === undefined ? 0 : last.newEnd - last.oldEnd;
}
