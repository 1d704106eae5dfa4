/** The most that the server lets through, well below the 10 MiB at which stdio clients drop the connection. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** What a list or a content may take on the wire. The rest is for what else is in a result. */
const MAX_BYTES = MAX_RESULT_BYTES - 512 * 1024;

/** The most that one UTF-16 unit takes: a control character, once as `\u0001` and once as `\\u0001`. */
const WORST_UNIT = 13;

/**
 * The first items, as many as one result can carry. A result goes out twice: as structured content, and once more as
 * text, where its JSON is a string inside JSON.
 */
export function firstFitting<T>(items: readonly T[]): readonly T[] {
  let total = 0;
  const tooMuch = items.findIndex((item) => {
    total += sentBytes(item) + 2;
    return total > MAX_BYTES;
  });
  return tooMuch === -1 ? items : items.slice(0, tooMuch);
}

/** How a content stands in the text of its result: in JSON there too, or as it is, with or without line numbers. */
export type ContentText = 'json' | 'plain' | 'numbered';

export interface ContentForm {
  readonly encoding: 'utf-8' | 'base64';
  readonly text: ContentText;
}

/** The beginning of a content that one result can carry, cut between characters, or between groups of base64. */
export function fittingContent(content: string, { encoding, text }: ContentForm): string {
  if (content.length * (WORST_UNIT + NUMBER_BYTES) <= MAX_BYTES) return content;
  const line = text === 'numbered' ? NUMBER_BYTES : 0;
  let total = line;
  for (let at = 0; at < content.length; at += 1) {
    const unit = content.charCodeAt(at);
    total += text === 'json' ? sentBytesOf(unit) : 2 * escapedBytesOf(unit);
    if (unit === LF) total += line;
    if (total > MAX_BYTES) return content.slice(0, encoding === 'base64' ? at - (at % 4) : wholeCharacter(content, at));
  }
  return content;
}

const LF = 0x0a;

/** What numbering adds to a line: up to nine digits, and a tab as `\t`. */
const NUMBER_BYTES = 11;

/** What a value takes on the wire, twice; counted, since to make the JSON only to measure it costs more than to send it. */
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

/** A string with its quotes, which are `"` the first time and `\"` the second. */
function textBytes(text: string): number {
  let total = 6;
  for (let at = 0; at < text.length; at += 1) total += sentBytesOf(text.charCodeAt(at));
  return total;
}

/** What a UTF-16 unit takes on the wire: its UTF-8 twice, or its two escapes, like `\n` and `\\n`. */
function sentBytesOf(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 6;
  const once = escapedBytesOf(unit);
  return unit < 0x20 ? 2 * once + 1 : 2 * once;
}

/** What a UTF-16 unit takes in a JSON string. */
function escapedBytesOf(unit: number): number {
  if (unit < 0x20) return unit >= 0x08 && unit <= 0x0d && unit !== 0x0b ? 2 : 6;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 2 : 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

/** The length itself, or one less if it would split a surrogate pair. */
function wholeCharacter(text: string, length: number): number {
  const unit = text.charCodeAt(length);
  return unit >= 0xdc00 && unit <= 0xdfff ? length - 1 : length;
}
