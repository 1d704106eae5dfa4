import { characterStart } from '../../runtime/utf8.ts';

/** The longest line that is shown whole, in characters (code points). */
export const MAX_SHOWN = 2_000;

/** So many bytes of a line hold all that is shown of it from its beginning on: a character has at most four. */
export const MAX_SHOWN_BYTES = 4 * (MAX_SHOWN + 1);

/** How much of a cut line is shown before the match. */
const LEAD = 500;

/** Half of a character; all others are a unit each. */
const SURROGATE = /[\ud800-\udfff]/;

export interface Excerpt {
  readonly text: string;
  readonly cut: boolean;
}

/** What is shown of a line: all of it, or `MAX_SHOWN` characters that begin a little before position `at`. */
export function excerpt(line: string, at = 0): Excerpt {
  if (line.length <= MAX_SHOWN) return { text: line, cut: false };
  // A character is at most two units, so this part holds all that can be shown.
  const from = wholeCharacter(line, Math.max(0, at - 2 * MAX_SHOWN));
  const to = Math.min(line.length, at + 2 * MAX_SHOWN);
  const part = line.slice(from, wholeCharacter(line, to));
  // Taking a text apart into characters costs more than finding the match.
  if (!SURROGATE.test(part)) {
    const start = Math.max(0, Math.min(at - from - LEAD, part.length - MAX_SHOWN));
    return { text: part.slice(start, start + MAX_SHOWN), cut: true };
  }
  const characters = Array.from(part);
  if (characters.length <= MAX_SHOWN && from === 0 && to === line.length) return { text: line, cut: false };
  const before = Array.from(line.slice(from, at)).length;
  const start = Math.max(0, Math.min(before - LEAD, characters.length - MAX_SHOWN));
  return { text: characters.slice(start, start + MAX_SHOWN).join(''), cut: true };
}

/** A line that matches, and an offset in it that is part of a match, or just behind one. */
export interface MatchedLine {
  readonly start: number;
  readonly at: number;
  readonly end: number;
}

/** What is shown of a matching line. However long it is, only what may be shown is looked at. */
export function excerptAround(bytes: Buffer, { start, at, end }: MatchedLine, pattern: Locator): Excerpt {
  if (end - start <= MAX_SHOWN_BYTES) {
    const line = bytes.toString('utf8', start, end);
    return excerpt(line, line.length <= MAX_SHOWN ? 0 : pattern.positionIn(line));
  }
  const from = Math.max(start, characterStart(bytes, Math.max(start, at - MAX_SHOWN_BYTES)));
  const to = Math.min(end, at + MAX_SHOWN_BYTES);
  const part = bytes.toString('utf8', from, to === end ? end : characterStart(bytes, to));
  const within = bytes.toString('utf8', from, at).length;
  // What looks like a match in the part may be none in the line, or begin too far ahead of what is surely one.
  const begin = pattern.positionIn(part) ?? within;
  const isNear = begin <= within && within - begin < MAX_SHOWN - LEAD;
  return { text: excerpt(part, isNear ? begin : within).text, cut: true };
}

interface Locator {
  positionIn(text: string): number | undefined;
}

/** The position itself, or the one before it if it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** What is shown of the line between two offsets, from its beginning on. */
export function shownLine(bytes: Buffer, start: number, end: number): string {
  return excerpt(bytes.toString('utf8', start, Math.min(end, start + MAX_SHOWN_BYTES))).text;
}
