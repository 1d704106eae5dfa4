import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BIN, startRingfence, tempDir } from '../support/server.ts';

const dir = tempDir();
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
sparse('seconds.bin', 128 * 1024 ** 2);
sparse('minutes.bin', 512 * 1024 ** 3);
const roots = [{ name: 'r', path: dir }];
const config = { request_timeout: 300, log_level: 'debug' };

describe.each(['http', 'stdio'] as const)('over %s', (transport) => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends an idle server at once, with exit code 0', async (signal) => {
    await using rf = await startRingfence({ transport, roots, config });
    await rf.call('list_roots');
    expect(await rf.stop(signal)).toBe(0);
    expect(rf.logs().at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('a running call is finished and answered first', async () => {
    await using rf = await startRingfence({ transport, roots, config });
    const { answer, started } = hash(rf, 'seconds.bin');
    await started;
    const exit = rf.stop('SIGTERM');
    expect((await answer).structured.size).toBe(128 * 1024 ** 2);
    expect(await exit).toBe(0);
  });

  test('a second signal does not wait', async () => {
    await using rf = await startRingfence({ transport, roots, config });
    const { answer, started } = hash(rf, 'minutes.bin');
    answer.catch(() => {});
    await started;
    const exit = rf.stop('SIGTERM');
    await rf.waitForLog(({ msg }) => msg === 'stopping');
    process.kill(rf.pid, 'SIGTERM');
    expect(await exit).toBe(1);
    expect(rf.logs().some(({ tool }) => tool === 'hash_file')).toBe(false);
  });
});

test('a call that would take too long is cancelled, and the exit code is still 0', async () => {
  await using rf = await startRingfence({ roots, config });
  const { answer, started } = hash(rf, 'minutes.bin');
  answer.catch(() => {});
  await started;
  expect(await rf.stop('SIGTERM')).toBe(0);
  expect(rf.logs()).toContainEqual(expect.objectContaining({ tool: 'hash_file', code: 'cancelled' }));
});

test('no new connection is accepted while a call is being finished', async () => {
  await using rf = await startRingfence({ roots, config });
  const { answer, started } = hash(rf, 'seconds.bin');
  await started;
  const exit = rf.stop('SIGTERM');
  await rf.waitForLog(({ msg }) => msg === 'stopping');
  const socket = net.connect(Number(new URL(rf.url).port), '127.0.0.1');
  await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await answer;
  await exit;
});

test('a log that nobody reads neither stops the server nor keeps it from ending', async () => {
  const child = spawn(process.execPath, [BIN, 'serve', dir, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [banner] = await once(child.stdout, 'data');
  const url = /http:\S+/.exec(String(banner))?.[0] ?? '';
  const headers = { origin: 'http://evil.example', 'x-padding': 'x' };
  for (let i = 0; i < 1_500; i += 1) {
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
    await answer.text();
    expect(answer.status).toBe(403);
  }
  expect(child.stderr.readableFlowing).toBe(null);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  child.stderr.destroy();
  expect(code).toBe(0);
});

function hash(rf: Awaited<ReturnType<typeof startRingfence>>, file: string) {
  const { promise: started, resolve } = deferred();
  return {
    answer: rf.call('hash_file', { root: 'r', path: file, algorithm: 'sha256' }, { onprogress: resolve }),
    started,
  };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function sparse(name: string, size: number): void {
  fs.writeFileSync(path.join(dir, name), '');
  fs.truncateSync(path.join(dir, name), size);
}
