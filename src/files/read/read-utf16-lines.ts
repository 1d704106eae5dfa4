import { type ReadLimit, readAt, startsBinary } from './byte-source.ts';
import { fileChunks } from './file-chunks.ts';
import type { LineReadContext } from './sparse-line-index.ts';

const LF = 0x0a;

/** The byte order of UTF-16. */
type ByteOrder = 'le' | 'be';

interface Utf16Options extends Pick<ReadLimit, 'maxBytes'> {
  /** The first line, from 1, or from the end if negative. */
  readonly range: { readonly offset: number; readonly limit?: number | undefined };
  readonly order: ByteOrder;
}

/**
 * Reads a range of lines of a file in UTF-16, in which the byte 0x0A occurs inside of characters as well, so that the
 * index of bytes does not apply. The whole file is scanned. The part is cut at `maxBytes`, which may be between two
 * surrogates. Raises what `fileChunks` raises.
 */
export async function readUtf16Lines(work: LineReadContext, { range, order, maxBytes }: Utf16Options) {
  const first =
    range.offset > 0 ? range.offset : Math.max(1, (await scan(work, order, [])).linesTotal + range.offset + 1);
  const after = range.limit === undefined ? Number.POSITIVE_INFINITY : first + range.limit;
  const { size, linesTotal, starts } = await scan(work, order, [first, after]);
  const start = starts[0] ?? size;
  const end = starts[1] ?? size;
  const most = Math.max(2, maxBytes - (maxBytes % 2));
  const bytes = readAt(work.file, start, Math.min(end - start, most));
  return {
    bytes,
    start,
    size,
    truncated: start + bytes.length < size,
    ...(end - start > most && { capped: true as const }),
    binary: startsBinary(work.file),
    linesTotal,
    ...(range.offset < 0 && { firstLine: first }),
  };
}

/** Counts the lines, and finds the offsets at which the given ones, in ascending order, begin. */
async function scan({ file, root, context }: LineReadContext, order: ByteOrder, wanted: readonly number[]) {
  const starts: number[] = wanted[0] === 1 ? [0] : [];
  let size = 0;
  let ends = 0;
  let lastEnd = 0;
  // Chunks are of even length but for the last one, so no character is split between two.
  for await (const chunk of fileChunks(file, { root, context })) {
    for (let at = nextEnd(chunk, 0, order); at !== -1; at = nextEnd(chunk, at, order)) {
      ends += 1;
      lastEnd = size + at;
      if (ends === (wanted[starts.length] ?? 0) - 1) starts.push(lastEnd);
    }
    size += chunk.length;
    context.progress?.(size, file.size);
  }
  return { size, starts, linesTotal: lastEnd === size ? ends : ends + 1 };
}

/** Returns the offset after the next line feed at or after an even offset, or -1 if there is none. */
function nextEnd(chunk: Buffer, from: number, order: ByteOrder): number {
  const low = order === 'le' ? 0 : 1;
  for (let at = chunk.indexOf(LF, from); at !== -1; at = chunk.indexOf(LF, at + 1)) {
    if (at % 2 === low && chunk[low === 0 ? at + 1 : at - 1] === 0) return low === 0 ? at + 2 : at + 1;
  }
  return -1;
}
