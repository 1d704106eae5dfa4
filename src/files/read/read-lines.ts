import type { OpenFile } from '../../fence/index.ts';
import { looksBinary } from '../encoding.ts';
import { type ReadLimit, readAt, readLimited, startsBinary, truncatePart } from './byte-source.ts';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';
import type { LineIndexCache } from './line-index-cache.ts';
import { type LineReadContext, SparseLineIndex } from './sparse-line-index.ts';

/** Lines of a file up to this size are found in memory, after one read. */
const SMALL_BYTES = 128 * 1024;

/** Some lines, counted from 1; all that follow without a limit. */
interface LineRange {
  readonly offset: number;
  readonly limit?: number | undefined;
}

interface Options extends ReadLimit {
  readonly range: LineRange;
  readonly lineIndex: LineIndexCache | undefined;
}

type ReadLinesContext = LineReadContext & { readonly file: OpenFile };

/** The bytes of some lines, as far as the cap goes, and how many lines and bytes there are in all. */
export async function readLines(work: ReadLinesContext, options: Options) {
  const { file } = work;
  if (file.size > 0 && file.size <= SMALL_BYTES) {
    const all = readAt(file, 0, file.size + 1);
    // One that grew is read again in the other way, which goes on to its end.
    if (all.length <= file.size) return linesIn(all, options);
  }
  return readByIndex(work, options);
}

/** The same of a whole file that is in memory. */
export function linesIn(all: Buffer, { range: { offset, limit }, ...cap }: Omit<Options, 'lineIndex'>) {
  const before = nthLineEnd(all, offset - 1);
  const start = offset > 1 && before === -1 ? all.length : before + 1;
  const rest = all.subarray(start);
  const last = limit === undefined ? -1 : nthLineEnd(rest, limit);
  const wanted = last === -1 ? rest : rest.subarray(0, last + 1);
  const capped = wanted.length > cap.maxBytes;
  return part({
    bytes: capped ? truncatePart(wanted.subarray(0, cap.maxBytes), cap) : wanted,
    start,
    capped,
    size: all.length,
    linesTotal: countLineEnds(all) + (endsWithLine(all) ? 0 : 1),
    binary: looksBinary(all),
  });
}

async function readByIndex(work: ReadLinesContext, { range: { offset, limit }, lineIndex, ...cap }: Options) {
  const marks = lineIndex === undefined ? await SparseLineIndex.of(work) : await lineIndex.indexOf(work);
  const start = await marks.startOf(offset, work);
  const end = limit === undefined ? marks.size : await marks.startOf(offset + limit, work);
  const wanted = Math.max(0, end - start);
  return part({
    bytes: readLimited(work.file, start, wanted, cap),
    start,
    capped: wanted > cap.maxBytes,
    size: marks.size,
    linesTotal: marks.linesTotal,
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

function part({ bytes, start, capped, size, linesTotal, binary }: FoundLines) {
  const truncated = start + bytes.length < size;
  return { bytes, size, truncated, ...(capped && { capped: true as const }), binary, linesTotal };
}
