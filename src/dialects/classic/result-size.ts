/**
 * What a result may take on the wire, below what the server lets through. A result goes out twice: as structured
 * content, and once more as text, where its JSON is a string inside JSON.
 */
const MAX_BYTES = 7.5 * 1024 * 1024;

/** What a value takes on the wire. */
function sentBytes(value: unknown): number {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/** The first items, as many as one result can carry. */
export function firstFitting<T>(items: readonly T[]): readonly T[] {
  let total = 0;
  const tooMuch = items.findIndex((item) => {
    total += sentBytes(item) + 2;
    return total > MAX_BYTES;
  });
  return tooMuch === -1 ? items : items.slice(0, tooMuch);
}

/** The beginning of a content that one result can carry, cut between characters, or between groups of base64. */
export function fittingContent(content: string, encoding: 'utf8' | 'base64'): string {
  let total = 0;
  for (let at = 0; at < content.length; at += 1) {
    total += sentBytesOf(content.charCodeAt(at));
    if (total > MAX_BYTES) return content.slice(0, encoding === 'base64' ? at - (at % 4) : wholeCharacter(content, at));
  }
  return content;
}

/** What a UTF-16 unit takes on the wire: its UTF-8 twice, or its two escapes, like `\n` and `\\n`. */
function sentBytesOf(unit: number): number {
  if (unit < 0x20) return unit >= 0x08 && unit <= 0x0d && unit !== 0x0b ? 5 : 13;
  if (unit === 0x22 || unit === 0x5c) return 6;
  if (unit < 0x80) return 2;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 4 : 6;
}

/** The length itself, or one less if it would split a surrogate pair. */
function wholeCharacter(text: string, length: number): number {
  const unit = text.charCodeAt(length);
  return unit >= 0xdc00 && unit <= 0xdfff ? length - 1 : length;
}
