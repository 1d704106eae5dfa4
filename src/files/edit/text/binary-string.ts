/**
 * A string in which each character is one byte (Latin-1). Patching works on these, so a file in any encoding keeps
 * every byte that no hunk touches, and string methods can still be used for searching.
 */
export type BinaryString = string;

/** The UTF-8 byte order mark. */
export const BYTE_ORDER_MARK: BinaryString = '\xef\xbb\xbf';

/** Converts bytes to a binary string. */
export function toBinaryString(bytes: Buffer): BinaryString {
  return bytes.toString('latin1');
}

/** Converts a binary string back to bytes. */
export function toBytes(text: BinaryString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Decodes a binary string as UTF-8, for messages only: invalid bytes become U+FFFD. */
function decode(text: BinaryString): string {
  return toBytes(text).toString('utf8');
}

/** The most characters of a line that a message quotes. */
const MAX_QUOTED = 80;
/** How many characters before the first difference are quoted. */
const LEAD = 30;

/** Quotes a line for a message, cut to at most 80 characters around character `from`. */
export function quote(text: BinaryString, from = 0): string {
  const whole = decode(text);
  const start = from + LEAD > MAX_QUOTED ? from - LEAD : 0;
  const cut = whole.slice(start, start + MAX_QUOTED);
  return JSON.stringify(`${start > 0 ? '…' : ''}${cut}${start + MAX_QUOTED < whole.length ? '…' : ''}`);
}

/** Quotes two lines for a message, cut so that their first difference is visible in both. */
export function quotePair(one: BinaryString, other: BinaryString): [string, string] {
  const a = decode(one);
  const b = decode(other);
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return [quote(one, same), quote(other, same)];
}
