import { isUtf8 } from 'node:buffer';
import { BufferPool } from '../../runtime/buffer-pool.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from '../encoding.ts';

const buffers = new BufferPool();

/** A file, or bytes in memory, that can be read at any position. */
export interface ByteSource {
  /** In bytes. Pseudo-files, as in /proc, report 0 although they have content. */
  readonly size: number;
  /** Reads up to `into.length` bytes at `position` and returns how many it read; 0 means the end. */
  read(into: Buffer, position: number): number;
}

/** Reads `length` bytes at `position`, or fewer if the source ends before. Raises what `read` of the source raises. */
export function readAt(file: ByteSource, position: number, length: number): Buffer {
  const buffer = buffers.allocate(length);
  let done = 0;
  while (done < buffer.length) {
    const read = file.read(done === 0 ? buffer : buffer.subarray(done), position + done);
    done += read;
    if (read === 0 || (done < length && isEnd(file, position + done))) break;
  }
  return done === buffer.length ? buffer : buffer.subarray(0, done);
}

/**
 * Reports whether `position` is known to be at the end, so that a short read needs no further read to confirm it. It
 * never is for a source of size 0, which may be a pseudo-file.
 */
export function isEnd({ size }: ByteSource, position: number): boolean {
  return size > 0 && position >= size;
}

/** How much of a part is returned, and where it is cut. */
export interface ReadLimit {
  /** The most bytes to return. */
  readonly maxBytes: number;
  /** Where to cut a longer part: after its last whole UTF-8 character (the default), or at exactly `maxBytes`. */
  readonly cut?: 'characters' | 'bytes';
}

/** Reads up to `length` bytes at `position`, cut to the limit. */
export function readLimited(file: ByteSource, position: number, length: number, limit: ReadLimit): Buffer {
  const bytes = readAt(file, position, Math.min(length, limit.maxBytes));
  return length <= limit.maxBytes ? bytes : truncatePart(bytes, limit);
}

/**
 * Drops an incomplete UTF-8 character from the end of a part that continues after these bytes, unless `cut` is `bytes`.
 * Bytes that are not UTF-8 either way are returned unchanged.
 */
export function truncatePart(bytes: Buffer, { cut = 'characters' }: ReadLimit): Buffer {
  if (cut === 'bytes') return bytes;
  const characters = bytes.subarray(0, lastCharacterEnd(bytes));
  return isUtf8(characters) ? characters : bytes;
}

/** Reads the start of a source and reports whether it counts as binary; see `looksBinary`. */
export function startsBinary(file: ByteSource): boolean {
  return looksBinary(readAt(file, 0, Math.min(BINARY_SNIFF_BYTES, file.size || BINARY_SNIFF_BYTES)));
}

/**
 * Returns the end of the last whole UTF-8 character. A cut inside a character would make text invalid, and thus base64.
 */
function lastCharacterEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    // If the limit is below one character, the part is not emptied: a caller that reads on would never advance.
    return length > back && back < bytes.length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
