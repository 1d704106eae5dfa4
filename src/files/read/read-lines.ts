import type { OpenFile } from '../../fence/index.ts';
import { looksBinary } from '../encoding.ts';
import { type ReadLimit, readAt, readLimited, startsBinary, truncatePart } from './byte-source.ts';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';
import type { LineIndexCache } from './line-index-cache.ts';
import { findTail } from './read-tail.ts';
import { type LineReadContext, SparseLineIndex } from './sparse-line-index.ts';

/** Files up to this size are read whole to find their lines in memory. */
const SMALL_BYTES = 128 * 1024;

/**
 * A range of lines, numbered from 1, or from the end if negative; without a limit it extends to the end of the file.
 */
interface LineRange {
  readonly offset: number;
  readonly limit?: number | undefined;
}

interface LineOptions extends ReadLimit {
  readonly range: LineRange;
  readonly lineIndex: LineIndexCache | undefined;
}

type ReadLinesContext = LineReadContext & { readonly file: OpenFile };

/**
 * Reads a range of lines, cut to the limit, and the total number of lines. A large file is scanned once for its line
 * index, unless the cache has it. Lines at the end are found from there, without the index, so their total is only
 * known if the file is small or the cache has it. Raises what reading raises, and the reason of an aborted signal.
 */
export async function readLines(work: ReadLinesContext, options: LineOptions) {
  const { file } = work;
  if (file.size > 0 && file.size <= SMALL_BYTES) {
    const all = readAt(file, 0, file.size + 1);
    // A file that has grown since it was opened is read to its end by the other way.
    if (all.length <= file.size) return linesIn(all, options);
  }
  const tail = options.range.offset < 0 && file.size > 0 ? await readTail(work, options) : undefined;
  return tail ?? readByIndex(work, options);
}

/** Reads lines that are counted from the end. Returns undefined if they begin too far before it. */
async function readTail({ file, context }: ReadLinesContext, { range, lineIndex, ...readLimit }: LineOptions) {
  const tail = await findTail(file, -range.offset, context);
  if (tail === undefined) return undefined;
  const { start, lines } = tail;
  const rest = readAt(file, start, Math.min(file.size - start, readLimit.maxBytes + 1));
  const last = range.limit === undefined ? -1 : nthLineEnd(rest, range.limit);
  const wanted = last === -1 ? rest : rest.subarray(0, last + 1);
  const linesTotal = start === 0 ? lines : lineIndex?.known(file)?.linesTotal;
  return linePart({
    ...cutTo(wanted, readLimit),
    start,
    size: file.size,
    linesTotal,
    firstLine: linesTotal === undefined ? -lines : linesTotal - lines + 1,
    binary: startsBinary(file),
  });
}

function cutTo(wanted: Buffer, readLimit: ReadLimit) {
  const capped = wanted.length > readLimit.maxBytes;
  return { bytes: capped ? truncatePart(wanted.subarray(0, readLimit.maxBytes), readLimit) : wanted, capped };
}

/** Returns the number of a line that may be counted from the end. */
const lineNumber = (offset: number, linesTotal: number): number =>
  offset < 0 ? Math.max(1, linesTotal + offset + 1) : offset;

/** Extracts a range of lines from the whole content of a file, with a result like that of `readLines`. */
export function linesIn(all: Buffer, { range: { offset, limit }, ...readLimit }: Omit<LineOptions, 'lineIndex'>) {
  const linesTotal = countLineEnds(all) + (endsWithLine(all) ? 0 : 1);
  const firstLine = lineNumber(offset, linesTotal);
  const before = nthLineEnd(all, firstLine - 1);
  const start = firstLine > 1 && before === -1 ? all.length : before + 1;
  const rest = all.subarray(start);
  const last = limit === undefined ? -1 : nthLineEnd(rest, limit);
  const wanted = last === -1 ? rest : rest.subarray(0, last + 1);
  return linePart({
    ...cutTo(wanted, readLimit),
    start,
    size: all.length,
    linesTotal,
    ...(offset < 0 && { firstLine }),
    binary: looksBinary(all),
  });
}

async function readByIndex(work: ReadLinesContext, { range: { offset, limit }, lineIndex, ...readLimit }: LineOptions) {
  const index = lineIndex === undefined ? await SparseLineIndex.of(work) : await lineIndex.indexOf(work);
  const firstLine = lineNumber(offset, index.linesTotal);
  const start = await index.startOf(firstLine, work);
  const end = limit === undefined ? index.size : await index.startOf(firstLine + limit, work);
  const wanted = Math.max(0, end - start);
  return linePart({
    bytes: readLimited(work.file, start, wanted, readLimit),
    start,
    capped: wanted > readLimit.maxBytes,
    size: index.size,
    linesTotal: index.linesTotal,
    ...(offset < 0 && { firstLine }),
    binary: startsBinary(work.file),
  });
}

interface FoundLines {
  readonly bytes: Buffer;
  readonly start: number;
  readonly capped: boolean;
  readonly size: number;
  readonly linesTotal: number | undefined;
  readonly firstLine?: number;
  readonly binary: boolean;
}

function linePart({ bytes, start, capped, size, linesTotal, firstLine, binary }: FoundLines) {
  return {
    bytes,
    start,
    size,
    truncated: start + bytes.length < size,
    ...(capped && { capped: true as const }),
    binary,
    ...(linesTotal !== undefined && { linesTotal }),
    ...(firstLine !== undefined && { firstLine }),
  };
}
