/**
 * Text in which every character stands for one byte. Patching compares and moves bytes, so a file in any encoding, or in
 * none, keeps every byte that no hunk touches, while string methods still do the searching.
 */
export type BinaryString = string;

export const BYTE_ORDER_MARK: BinaryString = '\xef\xbb\xbf';

export function toBinaryString(bytes: Buffer): BinaryString {
  return bytes.toString('latin1');
}

export function toBytes(text: BinaryString): Buffer {
  return Buffer.from(text, 'latin1');
}

/** For messages only: bytes that are not UTF-8 are replaced. */
function readable(text: BinaryString): string {
  return toBytes(text).toString('utf8');
}

const EXCERPT = 80;
const LEAD = 30;

/** Quotes a line for a message, cut to a readable length, starting close to character `from`. */
export function quote(text: BinaryString, from = 0): string {
  const whole = readable(text);
  const start = from + LEAD > EXCERPT ? from - LEAD : 0;
  const cut = whole.slice(start, start + EXCERPT);
  return JSON.stringify(`${start > 0 ? '…' : ''}${cut}${start + EXCERPT < whole.length ? '…' : ''}`);
}

/** Quotes two lines so that the place where they part is visible in both. */
export function quotePair(one: BinaryString, other: BinaryString): [string, string] {
  const a = readable(one);
  const b = readable(other);
  let parting = 0;
  while (parting < a.length && parting < b.length && a[parting] === b[parting]) parting++;
  return [quote(one, parting), quote(other, parting)];
}
