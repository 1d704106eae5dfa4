import type { ReadableFile, Root } from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { fileChunks } from './file-chunks.ts';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';

/** The distance between two samples, which bounds how much is read to find a line. It doubles for files above 8 GB. */
const STEP_BYTES = 128 * 1024;
const MAX_SAMPLES = 64 * 1024;

/** A file to find lines in, the root that lends read buffers, and the context for progress and cancellation. */
export interface LineReadContext {
  readonly file: ReadableFile;
  readonly root: Root;
  readonly context: OperationContext;
}

/**
 * A sparse index of the lines of a file: the number of line feeds before every 128 KB. To find a line, a binary search
 * picks the last sample before it, and the file is read from there on. Lines are numbered from 1 and end at LF.
 */
export class SparseLineIndex {
  /** The number of bytes that were read and indexed. */
  readonly size: number;
  /** The number of lines; an unterminated last line counts. */
  readonly linesTotal: number;
  readonly #step: number;
  /** The number of line feeds before offset 0, before one step, before two steps, and so on. */
  readonly #endsBefore: Float64Array;
  readonly #ends: number;

  private constructor(counts: { size: number; ends: number; endsAtEnd: boolean; step: number; samples: number[] }) {
    this.size = counts.size;
    this.linesTotal = counts.endsAtEnd ? counts.ends : counts.ends + 1;
    this.#step = counts.step;
    this.#endsBefore = Float64Array.from(counts.samples);
    this.#ends = counts.ends;
  }

  /** The approximate size of the index in memory. */
  get bytes(): number {
    return this.#endsBefore.byteLength;
  }

  /** Builds the index by reading the whole file. Raises what `fileChunks` raises. */
  static async of({ file, root, context }: LineReadContext): Promise<SparseLineIndex> {
    const step = stepFor(file.size);
    const samples = [0];
    let size = 0;
    let ends = 0;
    let endsAtEnd = true;
    for await (const chunk of fileChunks(file, { root, context })) {
      for (let from = 0; from < chunk.length; ) {
        const to = Math.min(chunk.length, from + step - (size % step));
        ends += countLineEnds(chunk.subarray(from, to));
        size += to - from;
        from = to;
        if (size % step === 0) samples.push(ends);
      }
      endsAtEnd = endsWithLine(chunk);
      context.progress?.(size, file.size);
    }
    return new SparseLineIndex({ size, ends, endsAtEnd, step, samples });
  }

  /**
   * Returns the offset at which a line begins, or `size` if there is no such line. The file must be the indexed one and
   * unchanged. Raises what `fileChunks` raises.
   */
  async startOf(line: number, { file, root, context }: LineReadContext): Promise<number> {
    const end = line - 1;
    if (end === 0) return 0;
    if (end > this.#ends) return this.size;
    const sample = this.#sampleBefore(end);
    let at = sample * this.#step;
    let ends = this.#endsBefore[sample] as number;
    for await (const chunk of fileChunks(file, { root, context, from: at })) {
      const found = nthLineEnd(chunk, end - ends);
      if (found !== -1) return at + found + 1;
      ends += countLineEnds(chunk);
      at += chunk.length;
    }
    return this.size;
  }

  /** Returns the index of the last sample with fewer than `end` line feeds before it. */
  #sampleBefore(end: number): number {
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
  while (size / step > MAX_SAMPLES) step *= 2;
  return step;
}
