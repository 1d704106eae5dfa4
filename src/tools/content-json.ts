import type { Json } from './json-pieces.ts';
import { numberedJson } from './numbered-json.ts';

/** About so much of a content makes a piece, which ends with a line. */
const PIECE_LENGTH = 32 * 1024;

/** A content twice, each time in JSON, between its quotes. */
export interface ContentJson {
  readonly plain: Json;
  /** With a number before each line, and without the end of the last one. */
  readonly numbered: Json;
  /** By how many bytes the numbered text itself is longer. */
  readonly added: number;
}

/** A content that is not empty, as it is and with its lines numbered from `first` on. */
export function contentJson(content: string, first: number): ContentJson {
  const plain = plainJson(content);
  if (typeof plain === 'string') {
    const { json, added } = numberedJson(plain, first);
    return { plain, numbered: json, added };
  }
  const numbered: string[] = [];
  let added = 0;
  let next = first;
  for (const piece of plain) {
    const lines = numberedJson(piece, next);
    // The end of a piece's last line was left out, which is that of the content's last line only at the very end.
    numbered.push(next === first ? lines.json : `\\n${lines.json}`);
    added += lines.added + (next === first ? 0 : 1);
    next = lines.last + 1;
  }
  return { plain, numbered, added };
}

/** A content in JSON, between its quotes, in pieces that end with a line if it is long. */
export function plainJson(content: string): Json {
  if (content.length <= PIECE_LENGTH) return inJson(content);
  const pieces: string[] = [];
  for (let from = 0; from < content.length; ) {
    const end = content.indexOf('\n', from + PIECE_LENGTH) + 1 || content.length;
    pieces.push(inJson(content.slice(from, end)));
    from = end;
  }
  return pieces;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
