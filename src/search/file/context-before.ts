import type { ReadableFile } from '../../fence/index.ts';
import { MAX_SHOWN_BYTES, shownLine } from './excerpt.ts';

const LF = 0x0a;
const BLOCK = 64 * 1024;

/** The last `count` lines before `offset`, where a line begins that is not the first one, cut to what is shown of them. */
export function linesBefore(file: ReadableFile, offset: number, count: number): string[] {
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

/** Where LFs are before `offset`, the last first: one more than `count`, or all there are. */
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
