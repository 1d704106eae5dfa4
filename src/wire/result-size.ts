import { characterStart } from '../runtime/unicode.ts';
import { escapeJson } from './json-escaper.ts';

/**
 * The most bytes of one result that the server sends, well below the 10 MiB at which stdio clients drop the connection.
 */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** The most bytes that the list or the content of a result may take on the wire. The rest is for its other fields. */
export const MAX_SENT_BYTES = MAX_RESULT_BYTES - 512 * 1024;

/** The bytes that numbering adds to a line: up to nine digits, and a tab escaped as `\t`. */
const NUMBER_BYTES = 11;

/**
 * An upper bound of what one byte of UTF-8 takes on the wire. A control character takes 13 (`\u0001` and `\\u0001`), a
 * numbered line break 15.
 */
const MAX_BYTE_COST = 16;

/** How many bytes are added up before the limit is checked. */
const BLOCK_BYTES = 4096;

/** Matches texts of ASCII characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The bytes of a string's quotes: `"` in the structured content, `\"` in the text. */
const QUOTE_BYTES = 6;

/**
 * The bytes that each byte of a content takes on the wire. A result is sent twice: as structured content, where the
 * content is escaped once, and as text. The text is the JSON of the result, escaped again (`json`), or the content
 * itself, without (`plain`) or with line numbers (`numbered`).
 */
const COSTS = {
  json: costTable((character) => escapeJson(character).length + escapeJson(escapeJson(character)).length),
  plain: costTable((character) => 2 * escapeJson(character).length),
  numbered: costTable((character) => 2 * escapeJson(character).length + (character === '\n' ? NUMBER_BYTES : 0)),
};

/** Returns as many items from the start of a list as fit into one result whose text is the JSON of the result. */
export function firstFitting<T>(items: readonly T[]): readonly T[] {
  let total = 0;
  for (let at = 0; at < items.length; at += 1) {
    total += sentBytes(items[at]) + 2;
    if (total > MAX_SENT_BYTES) return items.slice(0, at);
  }
  return items;
}

interface ContentFormat {
  readonly encoding: 'utf8' | 'utf-8' | 'base64';
  /** How the text of the result shows the content: as JSON, as it is, or with line numbers. */
  readonly text: keyof typeof COSTS;
  /** The content in UTF-8, if the caller has it; saves encoding it again. */
  readonly bytes?: Buffer;
}

/**
 * Returns the start of a content, as much as fits into one result. UTF-8 is cut between characters, base64 between
 * groups of four. A content that fits is returned unchanged. Line numbers are assumed to have at most nine digits.
 */
export function truncateToFit(content: string, { encoding, text, bytes: given }: ContentFormat): string {
  if (encoding === 'base64') return content.slice(0, MAX_SENT_BYTES / 2 - ((MAX_SENT_BYTES / 2) % 4));
  if ((given?.length ?? Buffer.byteLength(content)) * MAX_BYTE_COST + NUMBER_BYTES <= MAX_SENT_BYTES) return content;
  const bytes = given ?? Buffer.from(content, 'utf8');
  const cost = COSTS[text];
  let total = text === 'numbered' ? NUMBER_BYTES : 0;
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const block = bytes.subarray(from, from + BLOCK_BYTES);
    const taken = costOf(block, cost);
    if (total + taken > MAX_SENT_BYTES) {
      const end = from + countFitting(block, cost, MAX_SENT_BYTES - total);
      return bytes.toString('utf8', 0, characterStart(bytes, end));
    }
    total += taken;
  }
  return content;
}

/**
 * Adds up the cost of all bytes. Without a limit check in its loop this is several times faster than `countFitting`.
 */
function costOf(bytes: Buffer, cost: Uint8Array): number {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 1) total += cost[bytes[at] as number] as number;
  return total;
}

/** Returns how many leading bytes cost at most `room`. */
function countFitting(bytes: Buffer, cost: Uint8Array, room: number): number {
  let left = room;
  let count = 0;
  while (count < bytes.length) {
    left -= cost[bytes[count] as number] as number;
    if (left < 0) break;
    count += 1;
  }
  return count;
}

/**
 * Returns an upper bound of the bytes that a value takes on the wire. Counting is cheaper than serializing the value.
 */
function sentBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 2 * String(value).length;
  let total = 4;
  if (Array.isArray(value)) {
    for (const item of value) total += sentBytes(item) + 2;
    return total;
  }
  for (const key in value) total += textBytes(key) + sentBytes(value[key as keyof typeof value]) + 4;
  return total;
}

/** Returns the bytes that a string takes on the wire, its quotes included. */
function textBytes(text: string): number {
  if (PLAIN.test(text)) return QUOTE_BYTES + 2 * text.length;
  let total = QUOTE_BYTES;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) total += COSTS.json[unit] as number;
    // Two or three bytes of UTF-8, sent twice; a surrogate is half of a character of four.
    else total += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 4 : 6;
  }
  return total;
}

/** Builds a lookup table by byte. A byte beyond ASCII is never escaped and is sent twice. */
function costTable(cost: (character: string) => number): Uint8Array {
  return Uint8Array.from({ length: 0x100 }, (_, byte) => (byte < 0x80 ? cost(String.fromCharCode(byte)) : 2));
}
