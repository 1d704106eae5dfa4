import { isUtf8 } from 'node:buffer';
import { FileError } from './errors.ts';

export type Encoding = 'utf-8' | 'base64';

const BINARY_SNIFF_BYTES = 8192;

/** Bytes as JSON can carry them: as text where they are UTF-8, else in base64. Never lossy. */
export function encodeContent(bytes: Buffer): { content: string; encoding: Encoding } {
  if (isUtf8(bytes)) return { content: bytes.toString('utf8'), encoding: 'utf-8' };
  return { content: bytes.toString('base64'), encoding: 'base64' };
}

/** Text as bytes. A lone surrogate, which UTF-8 cannot hold, is `invalid_encoding` rather than a silent U+FFFD. */
export function textToBytes(text: string, argument: string): Buffer {
  if (!text.isWellFormed()) throw new FileError('invalid_encoding', { argument });
  return Buffer.from(text, 'utf8');
}

/** Base64 as bytes. Anything but its one proper spelling (spaces, missing padding, `-` for `+`) is `invalid_encoding`. */
export function base64ToBytes(text: string, argument: string): Buffer {
  // Node's decoder skips what it does not understand; only what encodes back to the same text was all understood.
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new FileError('invalid_encoding', { argument });
  return bytes;
}

/** Whether a file counts as binary: a NUL in its first 8 KB. */
export function looksBinary(head: Buffer): boolean {
  return head.subarray(0, BINARY_SNIFF_BYTES).includes(0);
}

export { BINARY_SNIFF_BYTES };
