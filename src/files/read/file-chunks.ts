import type { ReadableFile, Root } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { isEnd } from './byte-source.ts';

const CHUNK_BYTES = 256 * 1024;
/** So much is read on this thread, since a small read costs less than handing it to another. */
const AT_ONCE_BYTES = 2 * CHUNK_BYTES;
const LEAST_BYTES = 4096;

interface ChunkOptions {
  readonly root: Root;
  readonly context: OperationContext;
  /** Where to begin, in bytes. */
  readonly from?: number;
}

/**
 * The bytes of a file in chunks of at most 256 KB. All but the first few are read on another thread while the one before
 * is being used, so neither a large file nor a slow disk keeps the server from anything else. A chunk holds its bytes only
 * until the next is asked for. Raises what the signal was aborted with.
 */
export async function* fileChunks(file: ReadableFile, { root, context, from = 0 }: ChunkOptions) {
  // One byte more than there should be shows in the same read that nothing follows.
  const bytes = Math.min(CHUNK_BYTES, Math.max(file.size - from + 1, LEAST_BYTES));
  let buffer = bytes < CHUNK_BYTES ? Buffer.allocUnsafe(bytes) : root.allocateReadBuffer(CHUNK_BYTES);
  let at = from;
  while (at - from < AT_ONCE_BYTES) {
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
    // Only when nobody reads from it any more may the file be closed: its number may soon be another's.
    await next.catch(() => {});
  }
}

/** Fails when it is awaited, not before: whoever stops early does not want to know. */
function readAhead(file: ReadableFile, into: Buffer, position: number): Promise<number> {
  const read = file.readAsync(into, position);
  read.catch(() => {});
  return read;
}
