import fs from 'node:fs';
import { LineSplitter } from '../runtime/line-splitter.ts';

const CHUNK_BYTES = 256 * 1024;
const POLL_MS = 200;

/** Options of `readLogLines`. */
export interface LogLinesOptions {
  /** Whether to wait for more at the end of the file, also of a new file of that name. */
  readonly follow?: boolean | undefined;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the lines of a log file, without line breaks, in constant memory. Following it goes on from the start after the
 * file was cut, and with the new file after it was replaced by name, once the old one is read. Raises system errors of
 * opening and reading the file.
 */
export async function* readLogLines(file: string, options: LogLinesOptions = {}): AsyncGenerator<string> {
  const { follow = false, signal } = options;
  let opened = await fs.promises.open(file);
  try {
    let splitter = new LineSplitter();
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let position = 0;
    for (;;) {
      const { bytesRead } = await opened.read(buffer, 0, buffer.length, position);
      position += bytesRead;
      if (bytesRead > 0) {
        yield* splitter.add(buffer.subarray(0, bytesRead));
        if (!signal?.aborted) continue;
      }
      if (!follow || signal?.aborted) {
        yield* splitter.end();
        return;
      }
      const own = await opened.stat();
      if (own.size < position) {
        position = 0;
        splitter = new LineSplitter();
        continue;
      }
      const named = await fs.promises.stat(file).catch(() => undefined);
      // The old file may have grown after it was renamed, so it is read to its end before the new one.
      if (own.size === position && named !== undefined && (named.ino !== own.ino || named.dev !== own.dev)) {
        yield* splitter.end();
        await opened.close();
        opened = await fs.promises.open(file);
        position = 0;
        splitter = new LineSplitter();
        continue;
      }
      await pause(signal);
    }
  } finally {
    await opened.close();
  }
}

/** Reads the lines of a stream, without line breaks, in constant memory. */
export async function* streamLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const chunk of stream) yield* splitter.add(chunk);
  yield* splitter.end();
}

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, POLL_MS);
    signal?.addEventListener('abort', end);
  });
}
