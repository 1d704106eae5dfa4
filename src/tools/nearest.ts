/** A longer word may not have more edits than one of this length. */
const LONG_WORD = 64;

/**
 * Returns the candidate that differs from a mistyped word by the fewest edits, ignoring case; undefined if none is
 * close.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const length = Math.min(word.length, LONG_WORD);
  const maxEdits = length < 4 ? 1 : Math.max(2, Math.floor(length / 3));
  return closest(word, candidates, { maxEdits, count: 1 })[0];
}

/**
 * Returns a hint with the nearest candidate, to append to the message about an unknown word: ` (did you mean path?)`,
 * or the empty string if none is close. `show` formats the candidate.
 */
export function didYouMean(
  word: string,
  known: Iterable<string>,
  show: (name: string) => string = (name) => name,
): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : ` (did you mean ${show(meant)}?)`;
}

/** What `closest` takes for close. */
interface Closeness {
  /** How many letters may be inserted, removed, replaced, or swapped with their neighbour. */
  readonly maxEdits: number;
  /** How many candidates to return. */
  readonly count: number;
}

/**
 * Returns the candidates that differ from a word by few edits, ignoring case, the closest first. Takes time in
 * proportion to the number of candidates.
 */
export function closest(word: string, candidates: Iterable<string>, { maxEdits, count }: Closeness): string[] {
  const wanted = word.toLowerCase();
  const found: { candidate: string; edits: number }[] = [];
  for (const candidate of candidates) {
    const edits = editsUpTo(maxEdits, wanted, candidate.toLowerCase());
    if (edits !== undefined) found.push({ candidate, edits });
  }
  return found
    .sort((a, b) => a.edits - b.edits)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/**
 * The optimal string alignment distance, which counts the swap of two neighbours as one edit; undefined if it exceeds
 * `limit`. Only the cells within `limit` of the diagonal are computed:
 * https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance
 */
function editsUpTo(limit: number, wholeA: string, wholeB: string): number | undefined {
  if (Math.abs(wholeA.length - wholeB.length) > limit) return undefined;
  const [a, b] = withoutCommonEnds(wholeA, wholeB);
  const far = limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, far));
  for (let i = 1; i <= a.length; i += 1) {
    const next = new Array<number>(b.length + 1).fill(far);
    if (i <= limit) next[0] = i;
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j += 1) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((row[j - 1] ?? far) + (same ? 0 : 1), (row[j] ?? far) + 1, (next[j - 1] ?? far) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, (before[j - 2] ?? far) + 1);
      next[j] = Math.min(edits, far);
    }
    // A swap may refer to the row before this one, so both have to be too far off.
    if (Math.min(...next) > limit && Math.min(...row) > limit) return undefined;
    before = row;
    row = next;
  }
  const edits = row[b.length] ?? far;
  return edits <= limit ? edits : undefined;
}

/** Cuts off what two words have in common at their beginning and end, which does not change their distance. */
function withoutCommonEnds(a: string, b: string): [string, string] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}
