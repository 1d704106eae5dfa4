import type { Writable } from 'node:stream';

/** Resolves when a stream can take more, and also when it never will because it ended or broke. Never rejects. */
export function drained(stream: Writable): Promise<void> {
  // False for a stream that is closed, from which no event would come.
  if (!stream.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of EVENTS) stream.off(event, settle);
      resolve();
    };
    for (const event of EVENTS) stream.on(event, settle);
  });
}

const EVENTS = ['drain', 'close', 'error'] as const;
