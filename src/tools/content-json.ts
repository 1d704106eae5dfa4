import { inQuotes } from './in-quotes.ts';
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
  if (content.length <= PIECE_LENGTH) {
    const plain = inQuotes(content);
    const { json, added } = numberedJson(plain, first);
    return { plain, numbered: json, added };
  }
  const plain: Buffer[] = [];
  const numbered: Buffer[] = [];
  let added = 0;
  let next = first;
  for (const piece of contentPieces(content)) {
    const lines = numberedJson(piece, next);
    // The end of a piece's last line was left out, which is that of the content's last line only at the very end.
    const isFirst = next === first;
    plain.push(Buffer.from(piece));
    numbered.push(Buffer.from(isFirst ? lines.json : `\\n${lines.json}`));
    added += lines.added + (isFirst ? 0 : 1);
    next = lines.last + 1;
  }
  return { plain, numbered, added };
}

/** A content in JSON, between its quotes. */
export function plainJson(content: string): Json {
  if (content.length <= PIECE_LENGTH) return inQuotes(content);
  return Array.from(contentPieces(content), (piece) => Buffer.from(piece));
}

function* contentPieces(content: string): Generator<string, void, undefined> {
  for (let from = 0; from < content.length; ) {
    const end = content.indexOf('\n', from + PIECE_LENGTH) + 1 || content.length;
    yield inQuotes(content.slice(from, end));
    from = end;
  }
}
