import { isUtf8 } from 'node:buffer';
import { RingfenceError } from '../errors.ts';
import type { CallerPath, Root } from '../fence/index.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from './content.ts';
import { type Control, pacer } from './control.ts';
import { located } from './located.ts';

const LF = 0x0a;
const SCAN_BYTES = 256 * 1024;

/** Which part of a file. Lines count from 1 and end at LF. */
export type Range =
  | { readonly by: 'whole' }
  | { readonly by: 'bytes'; readonly offset: number; readonly limit?: number | undefined }
  | { readonly by: 'lines'; readonly offset: number; readonly limit?: number | undefined };

type Part = Pick<Extract<Range, { by: 'bytes' }>, 'offset' | 'limit'>;

export interface FilePart {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
  /** There is more in the file after this part. */
  readonly truncated: boolean;
  /** The part was asked for in full, but `maxBytes` cut it. */
  readonly capped?: true;
  readonly binary: boolean;
  readonly modified: Date;
  /** Of the whole file; only where lines were asked for. */
  readonly linesTotal?: number;
}

export interface ReadOptions {
  readonly range: Range;
  /** The most that is returned. A whole file beyond it is `too_large`; a part is cut there. */
  readonly maxBytes: number;
  /** Where to cut: after the last whole character, if the part is text, or at the very byte. */
  readonly cut?: 'characters' | 'bytes';
}

/** Reads a file or a part of it. What lies outside the part is scanned at most, never kept. */
export async function readFile(
  root: Root,
  path: CallerPath,
  options: ReadOptions,
  control: Control,
): Promise<FilePart> {
  return located(root, path, async () => {
    using file = root.openFile(path);
    const part = await readRange(file, options, control);
    return { ...part, modified: file.stats.mtime };
  });
}

/** The same part of bytes that are in memory already. */
export function sliceBytes(bytes: Buffer, options: ReadOptions, control: Control): Promise<Omit<FilePart, 'modified'>> {
  const stats = { size: bytes.length };
  const read = (buffer: Buffer, position: number): number =>
    position < bytes.length ? bytes.copy(buffer, 0, position) : 0;
  return readRange({ stats, statNow: () => stats, read }, options, control);
}

/** What a part is read from. */
interface Bytes {
  readonly stats: { readonly size: number };
  statNow(): { readonly size: number };
  /** Up to a buffer's length of bytes from a position on; returns how many there were. */
  read(buffer: Buffer, position: number): number;
}

async function readRange(file: Bytes, options: ReadOptions, control: Control) {
  const { range, maxBytes } = options;
  if (range.by === 'whole') return readWhole(file, maxBytes);
  if (range.by === 'bytes') return readBytes(file, range, options);
  const { start, end, linesTotal, size } = await findLines(file, range, control);
  const bytes = readCapped(file, start, end - start, options);
  const capped = end - start > maxBytes && { capped: true as const };
  return { bytes, size, truncated: start + bytes.length < size, ...capped, binary: startsBinary(file), linesTotal };
}

function readBytes(file: Bytes, { offset, limit = Number.POSITIVE_INFINITY }: Part, options: ReadOptions) {
  // Files that the system gives no size for (as in /proc) show only when read how much there is.
  const known = file.stats.size;
  const bytes = readCapped(file, offset, known > 0 ? Math.min(limit, Math.max(0, known - offset)) : limit, options);
  const end = offset + bytes.length;
  const size = bytes.length > 0 ? Math.max(known, end) : known;
  const more = known > 0 || bytes.length === 0 ? end < size : readAt(file, end, 1).length > 0;
  return { bytes, size, truncated: more, binary: startsBinary(file) };
}

/** Reads what was asked for, or as much of it as the cap has room for. */
function readCapped(file: Bytes, position: number, length: number, { maxBytes, cut }: ReadOptions): Buffer {
  const bytes = readAt(file, position, Math.min(length, maxBytes));
  if (length <= maxBytes || cut === 'bytes') return bytes;
  const characters = bytes.subarray(0, lastCharacterEnd(bytes));
  return isUtf8(characters) ? characters : bytes;
}

function readWhole(file: Bytes, maxBytes: number) {
  // One byte past the limit shows a file that grew, or that the system gives no size for.
  const { size } = file.stats;
  if (size > maxBytes) throw new RingfenceError('too_large', { size, limit: maxBytes });
  const bytes = readAt(file, 0, Math.min(maxBytes, size || BINARY_SNIFF_BYTES) + 1);
  if (bytes.length > size) return rereadGrown(file, maxBytes);
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

function rereadGrown(file: Bytes, maxBytes: number) {
  const bytes = readAt(file, 0, maxBytes + 1);
  if (bytes.length > maxBytes) {
    throw new RingfenceError('too_large', { size: Math.max(bytes.length, file.statNow().size), limit: maxBytes });
  }
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
function readAt(file: Bytes, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < buffer.length) {
    const read = file.read(buffer.subarray(done), position + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
}

function startsBinary(file: Bytes): boolean {
  return looksBinary(readAt(file, 0, Math.min(BINARY_SNIFF_BYTES, file.stats.size || BINARY_SNIFF_BYTES)));
}

/** The byte range of some lines, and how many lines and bytes there are in all. */
async function findLines(file: Bytes, range: Part, control: Control) {
  const pause = pacer(control);
  const buffer = Buffer.allocUnsafe(SCAN_BYTES);
  const last = range.limit === undefined ? Number.POSITIVE_INFINITY : range.offset + range.limit;
  let position = 0;
  let line = 1;
  let lineStart = 0;
  let start = range.offset === 1 ? 0 : -1;
  let end = last === 1 ? 0 : -1;
  for (let read = file.read(buffer, 0); read > 0; read = file.read(buffer, position)) {
    const chunk = buffer.subarray(0, read);
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      line += 1;
      lineStart = position + at + 1;
      if (line === range.offset) start = lineStart;
      if (line === last) end = lineStart;
    }
    position += read;
    await pause();
    control.progress(position, file.stats.size);
  }
  const linesTotal = lineStart === position ? line - 1 : line;
  if (start === -1) start = position;
  return { start, end: end === -1 ? position : end, linesTotal, size: position };
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
