import { isUtf8 } from 'node:buffer';
import { RingfenceError } from '../errors.ts';

export type Encoding = 'utf-8' | 'base64';

const BINARY_SNIFF_BYTES = 8192;

/** Bytes as JSON can carry them: as text where they are UTF-8, else in base64. Never lossy. */
export function encodeContent(bytes: Buffer): { content: string; encoding: Encoding } {
  if (isUtf8(bytes)) return { content: bytes.toString('utf8'), encoding: 'utf-8' };
  return { content: bytes.toString('base64'), encoding: 'base64' };
}

/** Text as bytes. A lone surrogate, which UTF-8 cannot hold, is `invalid_encoding` rather than a silent U+FFFD. */
export function textToBytes(text: string, argument: string): Buffer {
  if (!text.isWellFormed()) throw new RingfenceError('invalid_encoding', { argument });
  return Buffer.from(text, 'utf8');
}

/** Base64 as bytes. Anything but its one proper spelling (spaces, missing padding, `-` for `+`) is `invalid_encoding`. */
export function base64ToBytes(text: string, argument: string): Buffer {
  // Node's decoder skips what it does not understand; only what encodes back to the same text was all understood.
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new RingfenceError('invalid_encoding', { argument });
  return bytes;
}

/** The offset itself, or up to three before it where it would split a character of UTF-8. */
export function characterStart(bytes: Buffer, at: number): number {
  const least = Math.max(0, at - 3);
  let start = at;
  while (start > least && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return start;
}

/** Whether a file counts as binary: a NUL in its first 8 KB. */
export function looksBinary(head: Buffer): boolean {
  return head.subarray(0, BINARY_SNIFF_BYTES).includes(0);
}

export { BINARY_SNIFF_BYTES };
