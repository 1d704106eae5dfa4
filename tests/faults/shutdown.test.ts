import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ERAS } from '../support/connections.ts';
import { spawnRingfence } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
sparse('seconds.bin', 128 * 1024 ** 2);
sparse('minutes.bin', 512 * 1024 ** 3);
const roots = [{ name: 'r', path: dir }];
const config = { request_timeout: 300, log_level: 'debug' };

describe.each(['http', 'stdio'] as const)('over %s', (transport) => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends an idle server at once, with exit code 0', async (signal) => {
    await using rf = await startServer({ transport, roots, config });
    await rf.call('list_roots');
    expect(await rf.stop(signal)).toBe(0);
    expect(rf.logs().at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test.each(ERAS)('a running call is finished, answered and logged first (%s)', async (era) => {
    await using rf = await startServer({ transport, era, roots, config });
    const { answer, started } = hash(rf, 'seconds.bin');
    await started;
    const exit = rf.stop('SIGTERM');
    expect((await answer).structured.size).toBe(128 * 1024 ** 2);
    expect(await exit).toBe(0);
    const order = rf.logs().map(({ tool, msg }) => tool ?? msg);
    expect(order.slice(order.indexOf('stopping'))).toEqual(['stopping', 'hash_file', 'client activity', 'stopped']);
  });

  test('a second signal does not wait', async () => {
    await using rf = await startServer({ transport, roots, config });
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

test('SIGHUP ends a server that has no config to read again, with exit code 0', async () => {
  await using rf = await startServer({ transport: 'stdio', args: [dir] });
  await rf.call('list_roots');
  expect(await rf.stop('SIGHUP')).toBe(0);
  expect(rf.logs().at(-1)).toMatchObject({ msg: 'stopped' });
});

test('a call that would take too long is cancelled, and the exit code is still 0', async () => {
  await using rf = await startServer({ roots, config });
  const { answer, started } = hash(rf, 'minutes.bin');
  answer.catch(() => {});
  await started;
  expect(await rf.stop('SIGTERM')).toBe(0);
  expect(rf.logs()).toContainEqual(expect.objectContaining({ tool: 'hash_file', code: 'cancelled' }));
});

test('no new connection is accepted while a call is being finished', async () => {
  await using rf = await startServer({ roots, config });
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
  const child = spawnRingfence(['serve', dir, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
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

describe.each([
  ['stdio', ['stdio', dir]],
  ['serve', ['serve', dir, '--port', '0']],
])('%s ends with exit code 0', (_, args) => {
  test('when the reader of its log goes away', async () => {
    const child = spawnRingfence(args);
    await once(child.stderr, 'data');
    child.stderr.destroy();
    child.kill('SIGTERM');
    expect(await exitCode(child)).toBe(0);
  });

  test('when there never was one', async () => {
    const child = spawnRingfence(args);
    child.stderr.destroy();
    if (args[0] === 'stdio') {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    }
    await once(child.stdout, 'data');
    // Long enough for the line about the start to have failed.
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill('SIGTERM');
    expect(await exitCode(child)).toBe(0);
  });

  test.runIf(fs.existsSync('/dev/full'))('when its log cannot be written', async () => {
    const full = fs.openSync('/dev/full', 'w');
    const child = spawnRingfence(args, { stdio: ['pipe', 'pipe', full] });
    fs.closeSync(full);
    if (args[0] === 'stdio') {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    }
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await exitCode(child)).toBe(0);
  });
});

test('a client that keeps its end open but reads no answers does not keep the server from ending', async () => {
  fs.writeFileSync(path.join(dir, 'big.txt'), 'x'.repeat(900_000));
  const child = spawnRingfence(['stdio', dir]);
  const lines: string[] = [];
  child.stderr.on('data', (chunk) => lines.push(...String(chunk).split('\n')));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 't', version: '0' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  const read = { name: 'read_file', arguments: { root: path.basename(dir), path: 'big.txt' } };
  for (let id = 2; id < 6; id += 1) send({ id, method: 'tools/call', params: read });
  while (lines.filter((line) => line.includes('"read_file"')).length < 4) await once(child.stderr, 'data');
  child.kill('SIGTERM');
  expect(await exitCode(child)).toBe(0);
  child.stdout.destroy();
});

async function exitCode(child: ChildProcess): Promise<number | null> {
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  return code;
}

function hash(rf: TestServer, file: string) {
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
