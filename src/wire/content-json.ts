import { concatJson, type JsonChunks } from './json-chunks.ts';
import { type JsonEscaper, jsonEscaper, MAX_LENGTH } from './json-escaper.ts';
import { escapeJson } from './json-string.ts';
import { linePrefix, numberedContent } from './numbered-lines.ts';

/** So many bytes of a long content make a piece. */
const PIECE_BYTES = 32 * 1024;

/** A content twice, each time in JSON, between its quotes. */
export interface ContentJson {
  readonly plain: JsonChunks;
  /** With a number before each line, and without the end of the last one. */
  readonly numbered: JsonChunks;
  /** By how many bytes the numbered text itself is longer. */
  readonly added: number;
}

/** A content of whole characters that is not empty, as it is and with its lines numbered from `first` on. */
export function contentJson(content: string, first: number): ContentJson {
  const escaper = jsonEscaper();
  if (escaper === undefined) return stringified(content, first);
  const start = escapeJson(linePrefix(first));
  const plain: JsonChunks[] = [];
  const numbered: JsonChunks[] = [start];
  const end = content.endsWith('\n') ? 1 : 0;
  let longer = start.length;
  escaper.line = first;
  for (const { isAscii, isLast } of parts(escaper, content)) {
    const asItIs = escaper.plain();
    longer -= asItIs.length;
    plain.push(keptChunk(asItIs, isAscii));
    const withNumbers = escaper.numbered(isLast ? end : 0);
    longer += withNumbers.length;
    numbered.push(keptChunk(withNumbers, isAscii));
  }
  // The tab of each line is two bytes in JSON and one in the text, as is the last line's end.
  const lines = escaper.line - first + 1;
  return { plain: concatJson(...plain), numbered: concatJson(...numbered), added: longer - lines + end };
}

/** A content of whole characters in JSON, between its quotes. */
export function plainJson(content: string): JsonChunks {
  const escaper = jsonEscaper();
  if (escaper === undefined) return escapeJson(content);
  return concatJson(...Array.from(parts(escaper, content), ({ isAscii }) => keptChunk(escaper.plain(), isAscii)));
}

interface Part {
  readonly isAscii: boolean;
  readonly isLast: boolean;
}

/** Puts one part of a content after another into an escaper. A short content is one part; the parts of others are taken for more than ASCII. */
function* parts(escaper: JsonEscaper, content: string): Generator<Part, void, undefined> {
  if (content.length <= MAX_LENGTH) {
    yield { isAscii: escaper.putText(content), isLast: true };
    return;
  }
  const bytes = Buffer.from(content);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    escaper.put(bytes.subarray(from, from + PIECE_BYTES));
    yield { isAscii: false, isLast: from + PIECE_BYTES >= bytes.length };
  }
}

/** What an escaper made, before it makes the next. To make a text of bytes beyond ASCII costs more than all else about them. */
function keptChunk(made: Buffer, isAscii: boolean): JsonChunks {
  return isAscii ? made.toString('latin1') : [Buffer.from(made)];
}

function stringified(content: string, first: number): ContentJson {
  const text = numberedContent(content, first);
  const added = Buffer.byteLength(text) - Buffer.byteLength(content);
  return { plain: escapeJson(content), numbered: escapeJson(text), added };
}
