import type { ReadableFile, Root } from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { fileChunks } from './file-chunks.ts';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';

/** The distance of two marks: about as much as is read to get from one to a line. Larger files have their marks further apart. */
const STEP_BYTES = 128 * 1024;
const MAX_MARKS = 64 * 1024;

/** What finding lines in a file takes: the file, how it is read, and how the work is watched and stopped. */
export interface LineReadContext {
  readonly file: ReadableFile;
  readonly root: Root;
  readonly context: OperationContext;
}

/**
 * How many lines end before every so many bytes of a file, from which any line is found by reading no more than lies
 * between two marks. Lines count from 1 and end at LF.
 */
export class SparseLineIndex {
  /** In bytes, as far as it was read. */
  readonly size: number;
  readonly linesTotal: number;
  readonly #step: number;
  /** The line ends before byte 0, before one step, before two. */
  readonly #endsBefore: Float64Array;
  readonly #ends: number;

  private constructor(counts: { size: number; ends: number; endsAtEnd: boolean; step: number; marks: number[] }) {
    this.size = counts.size;
    this.linesTotal = counts.endsAtEnd ? counts.ends : counts.ends + 1;
    this.#step = counts.step;
    this.#endsBefore = Float64Array.from(counts.marks);
    this.#ends = counts.ends;
  }

  /** What these marks take in memory, about. */
  get bytes(): number {
    return this.#endsBefore.byteLength;
  }

  /** Reads a file from its beginning to its end. */
  static async of({ file, root, context }: LineReadContext): Promise<SparseLineIndex> {
    const step = stepFor(file.size);
    const marks = [0];
    let size = 0;
    let ends = 0;
    let endsAtEnd = true;
    for await (const chunk of fileChunks(file, { root, context })) {
      for (let from = 0; from < chunk.length; ) {
        const to = Math.min(chunk.length, from + step - (size % step));
        ends += countLineEnds(chunk.subarray(from, to));
        size += to - from;
        from = to;
        if (size % step === 0) marks.push(ends);
      }
      endsAtEnd = endsWithLine(chunk);
      context.progress?.(size, file.size);
    }
    return new SparseLineIndex({ size, ends, endsAtEnd, step, marks });
  }

  /** Where a line begins: the end of the file if it has no such line. */
  async startOf(line: number, { file, root, context }: LineReadContext): Promise<number> {
    const end = line - 1;
    if (end === 0) return 0;
    if (end > this.#ends) return this.size;
    const mark = this.#markBefore(end);
    let at = mark * this.#step;
    let ends = this.#endsBefore[mark] as number;
    for await (const chunk of fileChunks(file, { root, context, from: at })) {
      const found = nthLineEnd(chunk, end - ends);
      if (found !== -1) return at + found + 1;
      ends += countLineEnds(chunk);
      at += chunk.length;
    }
    return this.size;
  }

  /** The last mark with fewer line ends before it. */
  #markBefore(end: number): number {
    let low = 0;
    let high = this.#endsBefore.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#endsBefore[middle] as number) < end) low = middle;
      else high = middle;
    }
    return low;
  }
}

function stepFor(size: number): number {
  let step = STEP_BYTES;
  while (size / step > MAX_MARKS) step *= 2;
  return step;
}
