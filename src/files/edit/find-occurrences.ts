const LF = 0x0a;
/** Nobody reads more line numbers than this, and a file may have millions. */
const MAX_LINES = 1_000;

export interface Occurrences {
  /** Overlapping ones count: "aaa" holds "aa" twice. */
  readonly count: number;
  /** Where the first one starts, in bytes; -1 if there is none. */
  readonly first: number;
  /** The lines on which they start, from 1, each once; the first thousand. */
  readonly lines: readonly number[];
}

/** Finds a text in another. Takes time in proportion to their lengths, whatever they hold. */
export function findOccurrences(haystack: Buffer, needle: Buffer): Occurrences {
  const first = needle.length === 0 ? -1 : haystack.indexOf(needle);
  if (first === -1) return { count: 0, first, lines: [] };
  if (haystack.indexOf(needle, first + 1) === -1) return { count: 1, first, lines: [lineAt(haystack, first)] };
  return { ...countAll(haystack, needle), first };
}

/** The line, from 1, that a byte is on. */
export function lineAt(bytes: Buffer, position: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at !== -1 && at < position; at = bytes.indexOf(LF, at + 1)) line += 1;
  return line;
}

/** Knuth, Morris and Pratt: searching anew from every match would take hours for a row of equal letters. */
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
      // The line of its last byte, less the line breaks before that byte within the match.
      const start = line - breaksBeforeLast;
      if (lines.length < MAX_LINES && lines.at(-1) !== start) lines.push(start);
      matched = borders[matched - 1] ?? 0;
    }
    if (byte === LF) line += 1;
  }
  return { count, lines };
}

/** For each prefix, the length of its longest proper beginning that is also its end. */
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
