import type { Writable } from 'node:stream';

/**
 * Resolves when a stream can accept more data, and also when it never will because it was closed or failed. Never
 * rejects.
 */
export function drained(stream: Writable): Promise<void> {
  // A closed stream reports false here; it would not emit another event.
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
