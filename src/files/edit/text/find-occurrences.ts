const LF = 0x0a;
/** The most line numbers that are collected; a file may have millions of matches. */
const MAX_LINES = 1_000;

/** Where a text occurs. */
export interface Occurrences {
  /** The number of occurrences. Overlapping ones count: "aaa" contains "aa" twice. */
  readonly count: number;
  /** The offset of the first occurrence in bytes, or -1. */
  readonly first: number;
  /** The lines on which occurrences start, numbered from 1, without duplicates; at most the first thousand. */
  readonly lines: readonly number[];
}

/**
 * Finds all occurrences of a text in time linear in the lengths of both, for any input. An empty needle does not occur.
 */
export function findOccurrences(haystack: Buffer, needle: Buffer): Occurrences {
  const first = needle.length === 0 ? -1 : haystack.indexOf(needle);
  if (first === -1) return { count: 0, first, lines: [] };
  if (haystack.indexOf(needle, first + 1) === -1) return { count: 1, first, lines: [lineAt(haystack, first)] };
  return { ...countAll(haystack, needle), first };
}

/** Returns the line, numbered from 1, that contains the byte at an offset. */
export function lineAt(bytes: Buffer, position: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at !== -1 && at < position; at = bytes.indexOf(LF, at + 1)) line += 1;
  return line;
}

/**
 * Counts occurrences with the Knuth-Morris-Pratt algorithm (https://doi.org/10.1137/0206024). Restarting `indexOf`
 * after every match would be quadratic for overlapping matches, as in a long run of one letter.
 */
function countAll(haystack: Buffer, needle: Buffer): Pick<Occurrences, 'count' | 'lines'> {
  const borders = bordersOf(needle);
  const breaksBeforeLast = lineAt(needle, needle.length - 1) - 1;
  const lines: number[] = [];
  let count = 0;
  let line = 1;
  let matched = 0;
  for (const byte of haystack) {
    while (matched > 0 && needle[matched] !== byte) matched = borders[matched - 1] ?? 0;
    if (needle[matched] === byte) matched += 1;
    if (matched === needle.length) {
      count += 1;
      // The match ends on `line`; subtract the line breaks inside it.
      const start = line - breaksBeforeLast;
      if (lines.length < MAX_LINES && lines.at(-1) !== start) lines.push(start);
      matched = borders[matched - 1] ?? 0;
    }
    if (byte === LF) line += 1;
  }
  return { count, lines };
}

/** Computes the failure function: for each prefix, the length of its longest proper prefix that is also its suffix. */
function bordersOf(needle: Buffer): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let i = 1; i < needle.length; i += 1) {
    while (length > 0 && needle[i] !== needle[length]) length = borders[length - 1] ?? 0;
    if (needle[i] === needle[length]) length += 1;
    borders[i] = length;
  }
  return borders;
}
