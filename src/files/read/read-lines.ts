import type { OpenFile } from '../../fence/index.ts';
import { looksBinary } from '../encoding.ts';
import { type ReadLimit, readAt, readLimited, startsBinary, truncatePart } from './byte-source.ts';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';
import type { LineIndexCache } from './line-index-cache.ts';
import { type LineReadContext, SparseLineIndex } from './sparse-line-index.ts';

/** Files up to this size are read whole to find their lines in memory. */
const SMALL_BYTES = 128 * 1024;

/** A range of lines, numbered from 1; without a limit it extends to the end of the file. */
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
 * Reads a range of lines, cut to the limit, and the total number of lines. A large file is scanned once for its line index,
 * unless the cache has it. Raises what reading raises, and the reason of an aborted signal.
 */
export async function readLines(work: ReadLinesContext, options: LineOptions) {
  const { file } = work;
  if (file.size > 0 && file.size <= SMALL_BYTES) {
    const all = readAt(file, 0, file.size + 1);
    // A file that has grown since it was opened is read to its end by the other way.
    if (all.length <= file.size) return linesIn(all, options);
  }
  return readByIndex(work, options);
}

/** Extracts a range of lines from the whole content of a file, with a result like that of `readLines`. */
export function linesIn(all: Buffer, { range: { offset, limit }, ...readLimit }: Omit<LineOptions, 'lineIndex'>) {
  const before = nthLineEnd(all, offset - 1);
  const start = offset > 1 && before === -1 ? all.length : before + 1;
  const rest = all.subarray(start);
  const last = limit === undefined ? -1 : nthLineEnd(rest, limit);
  const wanted = last === -1 ? rest : rest.subarray(0, last + 1);
  const capped = wanted.length > readLimit.maxBytes;
  return linePart({
    bytes: capped ? truncatePart(wanted.subarray(0, readLimit.maxBytes), readLimit) : wanted,
    start,
    capped,
    size: all.length,
    linesTotal: countLineEnds(all) + (endsWithLine(all) ? 0 : 1),
    binary: looksBinary(all),
  });
}

async function readByIndex(work: ReadLinesContext, { range: { offset, limit }, lineIndex, ...readLimit }: LineOptions) {
  const index = lineIndex === undefined ? await SparseLineIndex.of(work) : await lineIndex.indexOf(work);
  const start = await index.startOf(offset, work);
  const end = limit === undefined ? index.size : await index.startOf(offset + limit, work);
  const wanted = Math.max(0, end - start);
  return linePart({
    bytes: readLimited(work.file, start, wanted, readLimit),
    start,
    capped: wanted > readLimit.maxBytes,
    size: index.size,
    linesTotal: index.linesTotal,
    binary: startsBinary(work.file),
  });
}

interface FoundLines {
  readonly bytes: Buffer;
  readonly start: number;
  readonly capped: boolean;
  readonly size: number;
  readonly linesTotal: number;
  readonly binary: boolean;
}

function linePart({ bytes, start, capped, size, linesTotal, binary }: FoundLines) {
  const truncated = start + bytes.length < size;
  return { bytes, size, truncated, ...(capped && { capped: true as const }), binary, linesTotal };
}
