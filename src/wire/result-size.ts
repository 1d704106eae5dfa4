import { characterStart } from '../runtime/utf8.ts';
import { escapeJson } from './json-string.ts';

/** The most that the server lets through, well below the 10 MiB at which stdio clients drop the connection. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** What a list or a content may take on the wire. The rest is for what else is in a result. */
export const MAX_SENT_BYTES = MAX_RESULT_BYTES - 512 * 1024;

/** What numbering adds to a line: up to nine digits, and a tab as `\t`. */
const NUMBER_BYTES = 11;

/** More than any one byte of UTF-8 takes: 13 is a control character, as `\u0001` and `\\u0001`, 15 a line break with a number. */
const WORST_BYTE = 16;

/** So many bytes are weighed at a time. */
const BLOCK = 4096;

/** Nothing that JSON escapes, and nothing beyond ASCII. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The quotes of a string: `"` the first time, `\"` the second. */
const QUOTES = 6;

/**
 * What each byte of a text takes on the wire, where its result goes out twice: as structured content and as text. The
 * text is JSON once more (`\n`, then `\\n`), or the content as it is, which may have line numbers.
 */
const COSTS = {
  json: costs((character) => escapeJson(character).length + escapeJson(escapeJson(character)).length),
  plain: costs((character) => 2 * escapeJson(character).length),
  numbered: costs((character) => 2 * escapeJson(character).length + (character === '\n' ? NUMBER_BYTES : 0)),
};

/** The first items, as many as one result can carry that also goes out as JSON in its text. */
export function firstFitting<T>(items: readonly T[]): readonly T[] {
  let total = 0;
  for (let at = 0; at < items.length; at += 1) {
    total += sentBytes(items[at]) + 2;
    if (total > MAX_SENT_BYTES) return items.slice(0, at);
  }
  return items;
}

interface ContentForm {
  readonly encoding: 'utf8' | 'utf-8' | 'base64';
  /** How it stands in the text of its result: in JSON there too, or as it is, with or without line numbers. */
  readonly text: keyof typeof COSTS;
  /** Its UTF-8, where that is at hand. */
  readonly bytes?: Buffer;
}

/** The beginning of a content that one result can carry, cut between characters, or between groups of base64. */
export function truncateToFit(content: string, { encoding, text, bytes: given }: ContentForm): string {
  if (encoding === 'base64') return content.slice(0, MAX_SENT_BYTES / 2 - ((MAX_SENT_BYTES / 2) % 4));
  if ((given?.length ?? Buffer.byteLength(content)) * WORST_BYTE + NUMBER_BYTES <= MAX_SENT_BYTES) return content;
  const bytes = given ?? Buffer.from(content, 'utf8');
  const cost = COSTS[text];
  let total = text === 'numbered' ? NUMBER_BYTES : 0;
  for (let from = 0; from < bytes.length; from += BLOCK) {
    const block = bytes.subarray(from, from + BLOCK);
    const taken = costOf(block, cost);
    if (total + taken > MAX_SENT_BYTES) {
      const end = from + countFitting(block, cost, MAX_SENT_BYTES - total);
      return bytes.toString('utf8', 0, characterStart(bytes, end));
    }
    total += taken;
  }
  return content;
}

/** A loop that does nothing else is several times as fast as one that also looks for the end. */
function costOf(bytes: Buffer, cost: Uint8Array): number {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 1) total += cost[bytes[at] as number] as number;
  return total;
}

/** How many of these bytes there is room for. */
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

/** What a value takes on the wire. It is counted, since making its JSON only to measure it costs more. */
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

/** What a string takes on the wire, its quotes included. */
function textBytes(text: string): number {
  if (PLAIN.test(text)) return QUOTES + 2 * text.length;
  let total = QUOTES;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) total += COSTS.json[unit] as number;
    // Its UTF-8 twice, of which a surrogate is half.
    else total += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 4 : 6;
  }
  return total;
}

/** A byte beyond ASCII is never escaped. */
function costs(cost: (character: string) => number): Uint8Array {
  return Uint8Array.from({ length: 0x100 }, (_, byte) => (byte < 0x80 ? cost(String.fromCharCode(byte)) : 2));
}
