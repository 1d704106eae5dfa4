import { concatJson, type JsonChunks } from './json-chunks.ts';
import { escapeJson, type JsonEscaper, jsonEscaper, LINE_NUMBER_WIDTH, MAX_TEXT_LENGTH } from './json-escaper.ts';

/** The size of the parts in which a long content is escaped. */
const PART_BYTES = 32 * 1024;

/** The content of a file, plain and with line numbers, each escaped for use between the quotes of a JSON string. */
export interface ContentJson {
  readonly plain: JsonChunks;
  /** The content with a number before each line, without the line feed that ends the last line. */
  readonly numbered: JsonChunks;
  /** By how many bytes of UTF-8 numbering makes the content longer, before escaping. */
  readonly added: number;
}

/**
 * Escapes a content, plain and with its lines numbered from `first`, which is negative if they are counted from the
 * end. The content must be well-formed and not empty. Equals `JSON.stringify` of the content and of `numberedContent`,
 * without the quotes.
 */
export function contentJson(content: string, first: number): ContentJson {
  const escaper = first < 0 ? undefined : jsonEscaper();
  if (escaper === undefined) return stringifyContent(content, first);
  const firstPrefix = escapeJson(linePrefix(first));
  const plain: JsonChunks[] = [];
  const numbered: JsonChunks[] = [firstPrefix];
  const end = content.endsWith('\n') ? 1 : 0;
  let added = firstPrefix.length;
  escaper.lineNumber = first;
  for (const { isAscii, isLast } of loadParts(escaper, content)) {
    const plainPart = escaper.escape();
    added -= plainPart.length;
    plain.push(copyChunk(plainPart, isAscii));
    const numberedPart = escaper.escapeNumbered(isLast ? end : 0);
    added += numberedPart.length;
    numbered.push(copyChunk(numberedPart, isAscii));
  }
  // Each line's tab, and the omitted line feed, takes two bytes in JSON but one in the text.
  const lines = escaper.lineNumber - first + 1;
  return { plain: concatJson(...plain), numbered: concatJson(...numbered), added: added - lines + end };
}

/** Escapes a well-formed content for use between the quotes of a JSON string. A long content comes in chunks. */
export function plainJson(content: string): JsonChunks {
  const escaper = jsonEscaper();
  if (escaper === undefined) return escapeJson(content);
  return concatJson(...Array.from(loadParts(escaper, content), ({ isAscii }) => copyChunk(escaper.escape(), isAscii)));
}

/** Formats lines as `cat -n` does: the number from `first` on, a tab, the line. */
export function numberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => linePrefix(first + index) + line).join('\n');
}

/** Formats a content as `cat -n` does, from number `first` on, without the line feed that ends the last line. */
export function numberedContent(content: string, first: number): string {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return numberedLines(lines, first);
}

function linePrefix(number: number): string {
  return `${String(number).padStart(LINE_NUMBER_WIDTH)}\t`;
}

interface LoadedPart {
  /** Whether the part is known to be all ASCII. */
  readonly isAscii: boolean;
  readonly isLast: boolean;
}

/**
 * Loads a content into an escaper, one part per iteration. A short content is one part. The parts of a longer one are
 * cut at any byte and reported as not ASCII.
 */
function* loadParts(escaper: JsonEscaper, content: string): Generator<LoadedPart, void, undefined> {
  if (content.length <= MAX_TEXT_LENGTH) {
    yield { isAscii: escaper.loadText(content), isLast: true };
    return;
  }
  const bytes = Buffer.from(content);
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    escaper.loadBytes(bytes.subarray(from, from + PART_BYTES));
    yield { isAscii: false, isLast: from + PART_BYTES >= bytes.length };
  }
}

/**
 * Copies the output of an escaper before the next call overwrites it. Only for ASCII is a string cheaper than bytes.
 */
function copyChunk(escaped: Buffer, isAscii: boolean): JsonChunks {
  return isAscii ? escaped.toString('latin1') : [Buffer.from(escaped)];
}

function stringifyContent(content: string, first: number): ContentJson {
  const text = numberedContent(content, first);
  const added = Buffer.byteLength(text) - Buffer.byteLength(content);
  return { plain: escapeJson(content), numbered: escapeJson(text), added };
}
