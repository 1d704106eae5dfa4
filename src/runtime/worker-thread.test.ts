import { expect, test } from 'vitest';
import { WorkerThread } from './worker-thread.ts';

test('each call that a crashed thread does not answer gets an error of its own', async () => {
  const thread = new WorkerThread<string, string>({
    entry: new URL('data:text/javascript,throw new Error("cannot be loaded")'),
    errors: {},
  });
  const failure = (call: Promise<string>): Promise<Error> =>
    call.then(
      () => expect.unreachable(),
      (error) => error,
    );
  const [first, second] = await Promise.all([failure(thread.call('a')), failure(thread.call('b'))]);
  const later = await failure(thread.call('c'));
  expect(new Set([first, second, later]).size).toBe(3);
  for (const { message, cause } of [first, second, later]) {
    expect(message).toBe('a worker thread ended unexpectedly');
    expect(cause).toMatchObject({ message: 'cannot be loaded' });
  }
});
