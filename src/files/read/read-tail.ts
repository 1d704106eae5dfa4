import type { ReadableFile } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { readAt } from './byte-source.ts';

const LF = 0x0a;
const BLOCK_BYTES = 64 * 1024;
/** How much is read on this thread before reads move to the thread pool: a small read costs less than the handover. */
const SYNC_BYTES = 512 * 1024;
/** How far back from the end lines are looked for. Longer tails are found by the line index. */
const MAX_TAIL_BYTES = 8 * 1024 * 1024;

/** Where the last lines of a file begin. */
export interface Tail {
  /** The offset of the first of them in bytes. */
  readonly start: number;
  /** How many lines there are from `start` on; fewer than asked for only if `start` is 0. */
  readonly lines: number;
}

/**
 * Finds where the last `count` lines of a file begin, by reading blocks from its end, so the time depends on the length
 * of these lines and not on that of the file. A line feed at the very end does not begin another line. Returns
 * undefined if the lines are longer than 8 MiB. Raises what a read raises, and the reason of an aborted signal.
 */
export async function findTail(
  file: ReadableFile,
  count: number,
  context: OperationContext,
): Promise<Tail | undefined> {
  const { size } = file;
  const pause = yieldPoint(context);
  let found = 0;
  let end = size;
  while (end > 0) {
    if (size - end >= MAX_TAIL_BYTES) return undefined;
    const from = Math.max(0, end - BLOCK_BYTES);
    const block = size - end < SYNC_BYTES ? readAt(file, from, end - from) : await readBlock(file, from, end - from);
    let before = end === size ? block.length - 1 : block.length;
    for (;;) {
      const at = before === 0 ? -1 : block.lastIndexOf(LF, before - 1);
      if (at === -1) break;
      found += 1;
      if (found === count) return { start: from + at + 1, lines: count };
      before = at;
    }
    end = from;
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  return { start: 0, lines: size === 0 ? 0 : found + 1 };
}

async function readBlock(file: ReadableFile, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  return block.subarray(0, await file.readAsync(block, position));
}
