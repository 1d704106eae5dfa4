/**
 * Returns the candidate with the smallest Levenshtein distance to a mistyped word, ignoring case; undefined if none is
 * close.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.slice(0, MAX_WORD).toLowerCase();
  let best: string | undefined;
  let bestDistance = (wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Bounds the quadratic work for a word that the client chooses. */
const MAX_WORD = 64;

/**
 * The Levenshtein distance by the Wagner–Fischer algorithm:
 * https://en.wikipedia.org/wiki/Wagner%E2%80%93Fischer_algorithm
 */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
