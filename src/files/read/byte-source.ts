import { isUtf8 } from 'node:buffer';
import { BufferPool } from '../../runtime/buffer-pool.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from '../encoding.ts';

const slab = new BufferPool();

/** What can be read from, a file or memory. */
export interface ByteSource {
  /** Files in /proc and the like say 0 and have content all the same. */
  readonly size: number;
  /** Up to a buffer's length of bytes from a position on; returns how many there were, 0 at the end. */
  read(into: Buffer, position: number): number;
}

/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
export function readAt(file: ByteSource, position: number, length: number): Buffer {
  const buffer = slab.allocate(length);
  let done = 0;
  while (done < buffer.length) {
    const read = file.read(done === 0 ? buffer : buffer.subarray(done), position + done);
    done += read;
    if (read === 0 || (done < length && isEnd(file, position + done))) break;
  }
  return done === buffer.length ? buffer : buffer.subarray(0, done);
}

/** Whether a read that came back short shows the end. One from a file of unknown size, as in /proc, does not. */
export function isEnd({ size }: ByteSource, position: number): boolean {
  return size > 0 && position >= size;
}

export interface ReadLimit {
  readonly maxBytes: number;
  /** Where to cut: after the last whole character, if the part is text, or at the very byte. */
  readonly cut?: 'characters' | 'bytes';
}

/** Reads what was asked for, or as much of it as the cap has room for. */
export function readLimited(file: ByteSource, position: number, length: number, cap: ReadLimit): Buffer {
  const bytes = readAt(file, position, Math.min(length, cap.maxBytes));
  return length <= cap.maxBytes ? bytes : truncatePart(bytes, cap);
}

/** What of a part is shown that goes on after these bytes. */
export function truncatePart(bytes: Buffer, { cut = 'characters' }: ReadLimit): Buffer {
  if (cut === 'bytes') return bytes;
  const characters = bytes.subarray(0, lastCharacterEnd(bytes));
  return isUtf8(characters) ? characters : bytes;
}

export function startsBinary(file: ByteSource): boolean {
  return looksBinary(readAt(file, 0, Math.min(BINARY_SNIFF_BYTES, file.size || BINARY_SNIFF_BYTES)));
}

/** Where the last whole UTF-8 character ends, so that a cut does not turn text into base64. */
function lastCharacterEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    // A cap below one character must not end in nothing for ever.
    return length > back && back < bytes.length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
