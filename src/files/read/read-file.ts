import { type CallerPath, type Root, withLocation } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { BINARY_SNIFF_BYTES, looksBinary } from '../encoding.ts';
import { FileError } from '../errors.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { versionOf } from '../version.ts';
import { type ByteSource, type ReadLimit, readAt, readLimited, startsBinary } from './byte-source.ts';
import type { LineIndexCache } from './line-index-cache.ts';
import { linesIn, readLines } from './read-lines.ts';
import { readUtf16Lines } from './read-utf16-lines.ts';

/** Upper bound for one read. */
export const MAX_READ_BYTES = 100 * 1024 * 1024;

/**
 * Which part of a file to read. Lines are numbered from 1, or from the end if negative (-1 is the last), and end at LF.
 */
export type ReadRange =
  | { readonly by: 'whole' }
  | { readonly by: 'bytes'; readonly offset: number; readonly limit?: number | undefined }
  | { readonly by: 'lines'; readonly offset: number; readonly limit?: number | undefined };

type ByteRange = Pick<Extract<ReadRange, { by: 'bytes' }>, 'offset' | 'limit'>;

/** A part of a file, and facts about the whole file. */
export interface FilePart {
  readonly bytes: Buffer;
  /** The offset of the part in the file, in bytes. */
  readonly start: number;
  /** The size of the whole file in bytes. */
  readonly size: number;
  /** Whether the file continues after this part. */
  readonly truncated: boolean;
  /** Set if the requested lines were longer than `maxBytes` and were cut. */
  readonly capped?: true;
  /** Whether the file counts as binary; see `looksBinary`. */
  readonly binary: boolean;
  readonly mtimeMs: number;
  /** The version of the file when it was opened: see `versionOf`. */
  readonly version: string;
  /**
   * The number of lines of the whole file; only for a range of lines, and for one from the end only where it is known.
   */
  readonly linesTotal?: number;
  /**
   * For lines from the end: the number of the first one; negative, counted from the end, where the total is not known.
   */
  readonly firstLine?: number;
}

const WHOLE: ReadRange = { by: 'whole' };

/**
 * Options of `readFile`. With more than `maxBytes` (by default `MAX_READ_BYTES`), a whole file is `too_large` and a
 * part is cut.
 */
export interface ReadOptions extends Partial<ReadLimit> {
  /** The part to read; by default the whole file. */
  readonly range?: ReadRange;
  /** Caches where lines begin in large files, for further reads of the same file. */
  readonly lineIndex?: LineIndexCache | undefined;
  /** Set for a file in UTF-16, where a line feed is two bytes. A part is then cut at `maxBytes`. */
  readonly utf16?: 'le' | 'be' | undefined;
}

/**
 * Reads a file or a part of it, following links that stay inside the root. Only the part is kept in memory; the rest is
 * at most scanned for line feeds. A concurrent write may be visible in part. Raises what `Root.openFile` raises,
 * `too_large`, and the reason of an aborted signal.
 */
export async function readFile(
  root: Root,
  path: CallerPath,
  { range = WHOLE, lineIndex, utf16, maxBytes = MAX_READ_BYTES, ...rest }: ReadOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<FilePart> {
  const readLimit = { maxBytes, ...rest };
  return withLocation(root, path, async () => {
    const waiting = awaitLatest(root, path, context);
    if (waiting !== undefined) await waiting;
    using file = root.openFile(path);
    const facts = { mtimeMs: file.stats.mtimeMs, version: versionOf(file.stats) };
    if (range.by === 'whole') {
      const { bytes, start, size, truncated, binary } = readWhole(file, maxBytes);
      // Without a spread, which takes as long as a system call.
      return { bytes, start, size, truncated, binary, mtimeMs: facts.mtimeMs, version: facts.version };
    }
    if (range.by === 'bytes') return { ...facts, ...readBytes(file, range, readLimit) };
    if (utf16 !== undefined) {
      const part = await readUtf16Lines({ root, file, context }, { range, order: utf16, maxBytes });
      return { ...facts, ...part };
    }
    return { ...facts, ...(await readLines({ root, file, context }, { range, lineIndex, ...readLimit })) };
  });
}

/**
 * Extracts a part of a file's content that is already in memory, with a result like that of `readFile`. Raises
 * `too_large`.
 */
export function sliceBytes(
  bytes: Buffer,
  { range, ...readLimit }: Required<Pick<ReadOptions, 'range'>> & ReadLimit,
): Omit<FilePart, 'mtimeMs' | 'version'> {
  if (range.by === 'lines') return linesIn(bytes, { range, ...readLimit });
  const size = bytes.length;
  const read = (into: Buffer, position: number): number => (position < size ? bytes.copy(into, 0, position) : 0);
  return readRange({ size, read, stat: () => ({ size }) }, range, readLimit);
}

/** A source that may have grown since its size was read. */
interface GrowingSource extends ByteSource {
  stat(): { readonly size: number };
}

function readRange(file: GrowingSource, range: Exclude<ReadRange, { by: 'lines' }>, readLimit: ReadLimit) {
  return range.by === 'whole' ? readWhole(file, readLimit.maxBytes) : readBytes(file, range, readLimit);
}

function readBytes(file: ByteSource, { offset, limit = Number.POSITIVE_INFINITY }: ByteRange, readLimit: ReadLimit) {
  // Pseudo-files, as in /proc, report size 0; only reading shows how long they are.
  const known = file.size;
  const bytes = readLimited(file, offset, known > 0 ? Math.min(limit, Math.max(0, known - offset)) : limit, readLimit);
  const end = offset + bytes.length;
  const size = bytes.length > 0 ? Math.max(known, end) : known;
  const more = known > 0 || bytes.length === 0 ? end < size : readAt(file, end, 1).length > 0;
  return { bytes, start: offset, size, truncated: more, binary: startsBinary(file) };
}

function readWhole(file: GrowingSource, maxBytes: number) {
  // Reading one byte more detects a file that has grown, or a pseudo-file that reports size 0.
  const { size } = file;
  if (size > maxBytes) throw new FileError('too_large', { size, limit: maxBytes });
  const bytes = readAt(file, 0, Math.min(maxBytes, size || BINARY_SNIFF_BYTES) + 1);
  if (bytes.length > size) return rereadGrown(file, maxBytes);
  return { bytes, start: 0, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}

function rereadGrown(file: GrowingSource, maxBytes: number) {
  const bytes = readAt(file, 0, maxBytes + 1);
  if (bytes.length > maxBytes) {
    throw new FileError('too_large', { size: Math.max(bytes.length, file.stat().size), limit: maxBytes });
  }
  return { bytes, start: 0, size: bytes.length, truncated: false, binary: looksBinary(bytes) };
}
