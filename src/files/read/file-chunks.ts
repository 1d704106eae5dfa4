import type { ReadableFile, Root } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { isEnd } from './byte-source.ts';

const CHUNK_BYTES = 256 * 1024;
/** How much is read on this thread before reads move to the thread pool: a small read costs less than the handover. */
const SYNC_BYTES = 2 * CHUNK_BYTES;
/** The smallest buffer, for pseudo-files of size 0. */
const MIN_BUFFER_BYTES = 4096;

interface ChunkOptions {
  readonly root: Root;
  readonly context: OperationContext;
  /** The offset of the first byte to read; by default 0. */
  readonly from?: number;
}

/**
 * Reads a file in chunks of at most 256 KB. After the first 512 KB, each chunk is read on the thread pool while the
 * caller processes the one before (double buffering), so neither a large file nor a slow disk blocks this thread. A
 * chunk is valid only until the next one is requested. Raises the reason of the context's aborted signal, and what a
 * read raises.
 */
export async function* fileChunks(file: ReadableFile, { root, context, from = 0 }: ChunkOptions) {
  // One byte more than the file's size: the read that returns everything also shows that nothing follows.
  const bytes = Math.min(CHUNK_BYTES, Math.max(file.size - from + 1, MIN_BUFFER_BYTES));
  let buffer = bytes < CHUNK_BYTES ? Buffer.allocUnsafe(bytes) : root.allocateReadBuffer(CHUNK_BYTES);
  let at = from;
  while (at - from < SYNC_BYTES) {
    const read = file.read(buffer, at);
    at += read;
    if (read > 0) yield buffer.subarray(0, read);
    if (read === 0 || (read < buffer.length && isEnd(file, at))) return;
  }
  const pause = yieldPoint(context);
  let other = root.allocateReadBuffer(CHUNK_BYTES);
  let next = readAhead(file, buffer, at);
  try {
    for (;;) {
      const read = await next;
      const wait = pause();
      if (wait !== undefined) await wait;
      if (read === 0) return;
      at += read;
      const chunk = buffer.subarray(0, read);
      [buffer, other] = [other, buffer];
      next = readAhead(file, buffer, at);
      yield chunk;
    }
  } finally {
    // The caller closes the file next. A read still under way could then hit a reused descriptor.
    await next.catch(() => {});
  }
}

/** Starts a read. Its failure surfaces only when awaited: a caller that stops early causes no unhandled rejection. */
function readAhead(file: ReadableFile, into: Buffer, position: number): Promise<number> {
  const read = file.readAsync(into, position);
  read.catch(() => {});
  return read;
}
