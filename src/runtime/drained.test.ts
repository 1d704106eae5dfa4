import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { drained } from './drained.ts';

const EVENTS = ['drain', 'close', 'error'];

/** A stream above its high-water mark whose reader takes nothing until told to. */
function full() {
  let take: (error?: Error) => void = () => {};
  const stream = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      take = done;
    },
  });
  expect(stream.write('xx')).toBe(false);
  const listeners = (): number[] => EVENTS.map((event) => stream.listenerCount(event));
  return { stream, take: (error?: Error) => take(error), listeners };
}

test('resolves when the stream has drained, and leaves no listener', async () => {
  const { stream, take, listeners } = full();
  const before = listeners();
  let resolved = false;
  const room = drained(stream).then(() => {
    resolved = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(resolved).toBe(false);
  take();
  await room;
  expect(listeners()).toEqual(before);
});

test.each([
  ['closes', ({ stream }: ReturnType<typeof full>) => void stream.destroy()],
  ['breaks', ({ take }: ReturnType<typeof full>) => take(new Error('EPIPE'))],
])('resolves when the stream %s, and leaves no listener', async (_, end) => {
  const it = full();
  it.stream.on('error', () => {});
  const before = it.listeners();
  const room = drained(it.stream);
  end(it);
  await room;
  expect(it.listeners()).toEqual(before);
});

test('does not wait for a stream that is closed or has room', async () => {
  const { stream } = full();
  await new Promise((resolve) => stream.destroy().once('close', resolve));
  await drained(stream);
  await drained(new Writable({ write: (_chunk, _encoding, done) => done() }));
});
