import type { ReadableFile } from '../../fence/index.ts';
import { MAX_SHOWN_BYTES, shownLine } from './excerpt.ts';

const LF = 0x0a;
const BLOCK = 64 * 1024;

/**
 * Reads the last `count` lines before `offset`, each cut to `MAX_SHOWN` characters. `offset` must be the start of a
 * line other than the first. Reads backwards in blocks of 64 KB and raises what reading raises.
 */
export function readContextBefore(file: ReadableFile, offset: number, count: number): string[] {
  const ends = lineEndsBefore(file, offset, count);
  const head = Buffer.allocUnsafe(MAX_SHOWN_BYTES);
  const lines: string[] = [];
  for (let i = Math.min(count, ends.length) - 1; i >= 0; i -= 1) {
    const before = ends[i + 1];
    const start = before === undefined ? 0 : before + 1;
    const length = readAt(file, head, start, Math.min((ends[i] as number) - start, head.length));
    lines.push(shownLine(head, 0, length));
  }
  return lines;
}

/** Returns the offsets of the LFs before `offset`, last first: `count` + 1 of them, or all if there are fewer. */
function lineEndsBefore(file: ReadableFile, offset: number, count: number): number[] {
  const block = Buffer.allocUnsafe(BLOCK);
  const ends = [offset - 1];
  for (let to = offset - 1; to > 0 && ends.length <= count; ) {
    const from = Math.max(0, to - BLOCK);
    const part = block.subarray(0, readAt(file, block, from, to - from));
    for (let end = part.length; end > 0 && ends.length <= count; ) {
      end = part.lastIndexOf(LF, end - 1);
      if (end !== -1) ends.push(from + end);
    }
    to = from;
  }
  return ends;
}

function readAt(file: ReadableFile, into: Buffer, position: number, length: number): number {
  let done = 0;
  while (done < length) {
    const got = file.read(into.subarray(done), position + done, length - done);
    if (got === 0) break;
    done += got;
  }
  return done;
}
