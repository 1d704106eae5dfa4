import { characterStart, hasSurrogates } from '../../runtime/unicode.ts';

/** Longest line that is shown whole, in code points. */
export const MAX_SHOWN = 2_000;

/** Upper bound on the bytes that `MAX_SHOWN` code points take, and one more to see that the line is longer. */
export const MAX_SHOWN_BYTES = 4 * (MAX_SHOWN + 1);

/** How many code points of a cut line are shown before the match. */
const LEAD = 500;

/** The shown part of a line, and whether it is less than the whole line. */
export interface Excerpt {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Returns the whole line if it has at most `MAX_SHOWN` code points, otherwise `MAX_SHOWN` of them starting a little
 * before index `at` (in UTF-16 code units).
 */
export function excerpt(line: string, at = 0): Excerpt {
  if (line.length <= MAX_SHOWN) return { text: line, cut: false };
  // A code point is at most two code units, so this part contains everything that can be shown.
  const from = wholeCharacter(line, Math.max(0, at - 2 * MAX_SHOWN));
  const to = Math.min(line.length, at + 2 * MAX_SHOWN);
  const part = line.slice(from, wholeCharacter(line, to));
  // Without surrogates, code units are code points. Splitting a string costs more than finding the match.
  if (!hasSurrogates(part)) {
    const start = Math.max(0, Math.min(at - from - LEAD, part.length - MAX_SHOWN));
    return { text: part.slice(start, start + MAX_SHOWN), cut: true };
  }
  const characters = Array.from(part);
  if (characters.length <= MAX_SHOWN && from === 0 && to === line.length) return { text: line, cut: false };
  const before = Array.from(line.slice(from, at)).length;
  const start = Math.max(0, Math.min(before - LEAD, characters.length - MAX_SHOWN));
  return { text: characters.slice(start, start + MAX_SHOWN).join(''), cut: true };
}

/** Offsets of a matching line: its start, its end, and `at`, which lies in a match or just after one. */
export interface MatchedLine {
  readonly start: number;
  readonly at: number;
  readonly end: number;
}

/** Returns the part of a matching line that is shown. Decodes a bounded number of bytes, however long the line is. */
export function excerptAround(bytes: Buffer, { start, at, end }: MatchedLine, pattern: Locator): Excerpt {
  if (end - start <= MAX_SHOWN_BYTES) {
    const line = bytes.toString('utf8', start, end);
    return excerpt(line, line.length <= MAX_SHOWN ? 0 : pattern.positionIn(line));
  }
  const from = Math.max(start, characterStart(bytes, Math.max(start, at - MAX_SHOWN_BYTES)));
  const to = Math.min(end, at + MAX_SHOWN_BYTES);
  const part = bytes.toString('utf8', from, to === end ? end : characterStart(bytes, to));
  const within = bytes.toString('utf8', from, at).length;
  // A match in the decoded part may not be one in the whole line, or may start too far before the known match.
  const begin = pattern.positionIn(part) ?? within;
  const isNear = begin <= within && within - begin < MAX_SHOWN - LEAD;
  return { text: excerpt(part, isNear ? begin : within).text, cut: true };
}

interface Locator {
  positionIn(text: string): number | undefined;
}

/** Returns the index itself, or the one before it if it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** Returns the beginning of the line between two offsets, cut to `MAX_SHOWN` code points. */
export function shownLine(bytes: Buffer, start: number, end: number): string {
  return excerpt(bytes.toString('utf8', start, Math.min(end, start + MAX_SHOWN_BYTES))).text;
}
