import { isUtf8 } from 'node:buffer';
import { FileError } from './errors.ts';

/** How a content is written in JSON. */
export type Encoding = 'utf-8' | 'base64';

/** How many bytes from the start of a file `looksBinary` examines. */
export const BINARY_SNIFF_BYTES = 8192;

/** Encodes bytes for JSON without loss: as text if they are valid UTF-8, otherwise in base64. */
export function encodeContent(bytes: Buffer): { content: string; encoding: Encoding } {
  if (isUtf8(bytes)) return { content: bytes.toString('utf8'), encoding: 'utf-8' };
  return { content: bytes.toString('base64'), encoding: 'base64' };
}

/**
 * Encodes a text in UTF-8. Raises `invalid_encoding`, with the name of the caller's `argument`, for a lone surrogate,
 * which would otherwise become U+FFFD.
 */
export function textToBytes(text: string, argument: string): Buffer {
  if (!text.isWellFormed()) throw new FileError('invalid_encoding', { argument });
  return Buffer.from(text, 'utf8');
}

/**
 * Decodes canonical base64 (RFC 4648, section 4). Raises `invalid_encoding`, with the name of the caller's `argument`,
 * for anything else: white space, missing padding, the URL-safe alphabet, nonzero trailing bits.
 */
export function base64ToBytes(text: string, argument: string): Buffer {
  // Node's decoder skips invalid characters; only canonical input survives the round trip.
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new FileError('invalid_encoding', { argument });
  return bytes;
}

/** Reports whether a file counts as binary, by a NUL byte among its first 8192 bytes. */
export function looksBinary(head: Buffer): boolean {
  return head.subarray(0, BINARY_SNIFF_BYTES).includes(0);
}
