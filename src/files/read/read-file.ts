import { type CallerPath, type Root, withLocation } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from '../encoding.ts';
import { FileError } from '../errors.ts';
import { MAX_READ_BYTES } from '../limits.ts';
import { type ByteSource, type ReadLimit, readAt, readLimited, startsBinary } from './byte-source.ts';
import type { LineIndexCache } from './line-index-cache.ts';
import { linesIn, readLines } from './read-lines.ts';

/** Which part of a file. Lines count from 1 and end at LF. */
export type ReadRange =
  | { readonly by: 'whole' }
  | { readonly by: 'bytes'; readonly offset: number; readonly limit?: number | undefined }
  | { readonly by: 'lines'; readonly offset: number; readonly limit?: number | undefined };

type ByteRange = Pick<Extract<ReadRange, { by: 'bytes' }>, 'offset' | 'limit'>;

export interface FilePart {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
  /** There is more in the file after this part. */
  readonly truncated: boolean;
  /** The part was asked for in full, but `maxBytes` cut it. */
  readonly capped?: true;
  readonly binary: boolean;
  readonly mtimeMs: number;
  /** Of the whole file; only where lines were asked for. */
  readonly linesTotal?: number;
}

const WHOLE: ReadRange = { by: 'whole' };

/** `maxBytes` is the most that is returned, by default `MAX_READ_BYTES`. A whole file beyond it is `too_large`; a part is cut there. */
export interface ReadOptions extends Partial<ReadLimit> {
  /** By default the whole file. */
  readonly range?: ReadRange;
  /** Remembers where lines begin in large files, for the next part of the same one. */
  readonly lineIndex?: LineIndexCache | undefined;
}

/** Reads a file or a part of it. What lies outside the part is scanned at most, never kept. */
export async function readFile(
  root: Root,
  path: CallerPath,
  { range = WHOLE, lineIndex, maxBytes = MAX_READ_BYTES, ...rest }: ReadOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<FilePart> {
  const cap = { maxBytes, ...rest };
  return withLocation(root, path, async () => {
    using file = root.openFile(path);
    const { mtimeMs } = file.stats;
    if (range.by !== 'lines') return { mtimeMs, ...readRange(file, range, cap) };
    return { mtimeMs, ...(await readLines({ root, file, context }, { range, lineIndex, ...cap })) };
  });
}

/** The same part of bytes that are in memory already. */
export function sliceBytes(
  bytes: Buffer,
  { range, ...cap }: Required<Pick<ReadOptions, 'range'>> & ReadLimit,
): Omit<FilePart, 'mtimeMs'> {
  if (range.by === 'lines') return linesIn(bytes, { range, ...cap });
  const size = bytes.length;
  const read = (into: Buffer, position: number): number => (position < size ? bytes.copy(into, 0, position) : 0);
  return readRange({ size, read, stat: () => ({ size }) }, range, cap);
}

/** What may have grown since its size was known. */
interface GrowingSource extends ByteSource {
  stat(): { readonly size: number };
}

function readRange(file: GrowingSource, range: Exclude<ReadRange, { by: 'lines' }>, cap: ReadLimit) {
  return range.by === 'whole' ? readWhole(file, cap.maxBytes) : readBytes(file, range, cap);
}

function readBytes(file: ByteSource, { offset, limit = Number.POSITIVE_INFINITY }: ByteRange, cap: ReadLimit) {
  // Files that the system gives no size for (as in /proc) show only when read how much there is.
  const known = file.size;
  const bytes = readLimited(file, offset, known > 0 ? Math.min(limit, Math.max(0, known - offset)) : limit, cap);
  const end = offset + bytes.length;
  const size = bytes.length > 0 ? Math.max(known, end) : known;
  const more = known > 0 || bytes.length === 0 ? end < size : readAt(file, end, 1).length > 0;
  return { bytes, size, truncated: more, binary: startsBinary(file) };
}

function readWhole(file: GrowingSource, maxBytes: number) {
  // One byte past the limit shows a file that grew, or that the system gives no size for.
  const { size } = file;
  if (size > maxBytes) throw new FileError('too_large', { size, limit: maxBytes });
  const bytes = readAt(file, 0, Math.min(maxBytes, size || BINARY_SNIFF_BYTES) + 1);
  if (bytes.length > size) return rereadGrown(file, maxBytes);
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

function rereadGrown(file: GrowingSource, maxBytes: number) {
  const bytes = readAt(file, 0, maxBytes + 1);
  if (bytes.length > maxBytes) {
    throw new FileError('too_large', { size: Math.max(bytes.length, file.stat().size), limit: maxBytes });
  }
  return { bytes, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}
