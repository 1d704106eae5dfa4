import { spawnSync } from 'node:child_process';
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

test('a process waits for the end of its threads, also if an answer arrives meanwhile', () => {
  const entry = `
    import { spawnSync } from 'node:child_process';
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id }) => {
      parentPort.postMessage({ id, result: 'late' });
      spawnSync('sleep', ['0.5']);
    });
    parentPort.postMessage('ready');`;
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    const { WorkerThread } = await import('${new URL('../../dist/runtime/worker-thread.js', import.meta.url).href}');
    const entry = new URL('data:text/javascript,${encodeURIComponent(entry).replaceAll("'", '%27')}');
    const thread = new WorkerThread({ entry, errors: {} });
    while (!thread.isReady) await sleep(10);
    thread.call('').catch(() => {});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await thread.close();
    console.log('closed');`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect({ stdout, status }).toEqual({ stdout: 'closed\n', status: 0 });
});
