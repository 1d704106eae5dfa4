import { RingfenceError } from '../errors.ts';
import type { CallerPath, OpenFile, Root } from '../fence/index.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from './content.ts';
import { type Control, pacer } from './control.ts';

const LF = 0x0a;
const SCAN_BYTES = 256 * 1024;

/** Which part of a file. Lines count from 1 and end at LF. */
export type Range =
  | { readonly by: 'whole' }
  | { readonly by: 'bytes'; readonly offset: number; readonly limit?: number | undefined }
  | { readonly by: 'lines'; readonly offset: number; readonly limit?: number | undefined };

export interface FilePart {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
  /** There is more in the file after this part. */
  readonly truncated: boolean;
  readonly binary: boolean;
  readonly modified: Date;
  /** Of the whole file; only where lines were asked for. */
  readonly linesTotal?: number;
}

export interface ReadOptions {
  readonly range: Range;
  /** The most that is returned. A whole file beyond it is `too_large`; a part is cut there, between characters. */
  readonly maxBytes: number;
}

/** Reads a file or a part of it. What lies outside the part is scanned at most, never kept. */
export async function readFile(root: Root, path: CallerPath, options: ReadOptions, control: Control): Promise<FilePart> {
  using file = root.openFile(path);
  const part = await readRange(file, options, control);
  return { ...part, modified: file.stats.mtime };
}

async function readRange(file: OpenFile, { range, maxBytes }: ReadOptions, control: Control) {
  if (range.by === 'whole') return readWhole(file, maxBytes);
  const { size } = file.stats;
  if (range.by === 'bytes') {
    const bytes = readAt(file, range.offset, Math.min(range.limit ?? maxBytes, maxBytes));
    return { bytes, size, truncated: range.offset + bytes.length < size, binary: startsBinary(file) };
  }
  const { start, end, linesTotal } = await findLines(file, range, control);
  let bytes = readAt(file, start, Math.min(end - start, maxBytes));
  if (end - start > maxBytes) bytes = bytes.subarray(0, lastCharacterEnd(bytes));
  return { bytes, size, truncated: start + bytes.length < size, binary: startsBinary(file), linesTotal };
}

function readWhole(file: OpenFile, maxBytes: number) {
  // One byte past the limit shows a file that grew, or that the system gives no size for.
  const { size } = file.stats;
  if (size > maxBytes) throw new RingfenceError('too_large', { size, limit: maxBytes });
  const bytes = readAt(file, 0, Math.min(maxBytes, size || BINARY_SNIFF_BYTES) + 1);
  if (bytes.length > size) return rereadGrown(file, maxBytes);
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

function rereadGrown(file: OpenFile, maxBytes: number) {
  const bytes = readAt(file, 0, maxBytes + 1);
  if (bytes.length > maxBytes) {
    throw new RingfenceError('too_large', { size: Math.max(bytes.length, file.statNow().size), limit: maxBytes });
  }
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
function readAt(file: OpenFile, position: number, length: number): Buffer {
  // The size bounds the buffer for a caller who asks for more than there is; files without a size get what they ask for.
  const known = file.stats.size > 0 ? Math.max(0, file.stats.size - position) + 1 : length;
  const buffer = Buffer.allocUnsafe(Math.min(length, known));
  let done = 0;
  while (done < buffer.length) {
    const read = file.read(buffer.subarray(done), position + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
}

function startsBinary(file: OpenFile): boolean {
  return looksBinary(readAt(file, 0, BINARY_SNIFF_BYTES));
}

/** The byte range of some lines, and how many lines there are in all. */
async function findLines(file: OpenFile, range: { offset: number; limit?: number | undefined }, control: Control) {
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
  return { start, end: end === -1 ? position : end, linesTotal };
}

/** Where the last whole UTF-8 character ends, so that a cut does not turn text into base64. */
function lastCharacterEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
