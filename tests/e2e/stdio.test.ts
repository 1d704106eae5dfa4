import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ERAS } from '../support/connections.ts';
import { runRingfence, spawnRingfence } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
const name = path.basename(dir);
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const OPENING =
  line({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 't', version: '0' } },
  }) + line({ method: 'notifications/initialized' });
const call = (id: number, tool: string, args: object): string =>
  line({ id, method: 'tools/call', params: { name: tool, arguments: args } });

describe.each(ERAS)('a %s client', (era) => {
  test('lists and calls tools', async () => {
    await using rf = await startServer({ transport: 'stdio', era, roots: [{ name: 'r', path: dir }] });
    expect((await rf.client.listTools()).tools.map((tool) => tool.name)).toContain('grep');
    expect((await rf.call('read_file', { root: 'r', path: 'a.txt' })).structured.content).toBe('hello\n');
    await expect(rf.call('read_fil')).rejects.toMatchObject({ code: -32602 });
    expect(rf.client.getInstructions()).toContain('list_roots');
  });

  test('gets progress, and cancels', async () => {
    fs.closeSync(fs.openSync(path.join(dir, 'huge.bin'), 'a'));
    fs.truncateSync(path.join(dir, 'huge.bin'), 64 * 1024 ** 3);
    await using rf = await startServer({ transport: 'stdio', era, roots: [{ name: 'r', path: dir }] });
    const abort = new AbortController();
    const hash = rf.call(
      'hash_file',
      { root: 'r', path: 'huge.bin', algorithm: 'sha256' },
      { signal: abort.signal, onprogress: () => abort.abort() },
    );
    await expect(hash).rejects.toThrow();
    expect(await rf.waitForLog(({ tool }) => tool === 'hash_file')).toMatchObject({ code: 'cancelled' });
    expect((await rf.call('list_roots')).isError).toBe(false);
  });
});

test('requests piped in by a script are answered before the end, and stdout holds nothing else', async () => {
  const ended = await runRingfence(['stdio', dir], {
    stdin: `${OPENING}${call(2, 'read_file', { root: name, path: 'a.txt' })}`,
  });
  expect(ended.code).toBe(0);
  const answers = ended.stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  expect(answers.find(({ id }) => id === 2).result.structuredContent.content).toBe('hello\n');
});

test('garbage on stdin does not end the connection', async () => {
  const ended = await runRingfence(['stdio', dir], { stdin: `not json\n\n[]\n{"jsonrpc":"2.0"}\n${OPENING}` });
  const answers = ended.stdout.trimEnd().split('\n');
  expect([ended.code, answers.length]).toEqual([0, 4]);
  expect(JSON.parse(answers[0] ?? '')).toMatchObject({ id: null, error: { code: -32700 } });
  // An empty batch is an invalid request (https://www.jsonrpc.org/specification#batch).
  for (const answer of answers.slice(1, 3)) {
    expect(JSON.parse(answer)).toMatchObject({ id: null, error: { code: -32600 } });
  }
});

test('the end of input ends the server, also with a call under way', async () => {
  fs.closeSync(fs.openSync(path.join(dir, 'huge.bin'), 'a'));
  fs.truncateSync(path.join(dir, 'huge.bin'), 64 * 1024 ** 3);
  const ended = await runRingfence(['stdio', dir], {
    stdin: `${OPENING}${call(2, 'hash_file', { root: name, path: 'huge.bin', algorithm: 'sha256' })}`,
  });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('"code":"cancelled"');
});

test('large answers to a slow reader all arrive in order, and the log holds nothing but JSON lines', async () => {
  fs.writeFileSync(path.join(dir, 'big.txt'), 'x'.repeat(600_000));
  const child = spawnRingfence(['stdio', dir]);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ids = Array.from({ length: 30 }, (_, index) => index + 2);
  child.stdin.write(OPENING);
  let pending = '';
  const seen: number[] = [];
  // One at a time: each answer is larger than the pipe, so each has to wait for the reader.
  const ask = (): void => {
    const id = ids[seen.length];
    if (id === undefined) child.stdin.end();
    else child.stdin.write(call(id, 'read_file', { root: name, path: 'big.txt' }));
  };
  ask();
  for await (const chunk of child.stdout) {
    pending += chunk;
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const { id } of lines.map((text) => JSON.parse(text))) {
      if (id === 1) continue;
      seen.push(id);
      ask();
    }
  }
  expect(seen).toEqual(ids);
  expect(stderr.split('\n').every((text) => text === '' || text.startsWith('{'))).toBe(true);
});

test('a reader of stdout that goes away ends the server quietly', async () => {
  const child = spawnRingfence(['stdio', dir]);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.write(OPENING);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const timer = setInterval(() => child.stdin.write(call(2, 'list_roots', {})), 50);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  expect(code).toBe(0);
  expect(stderr.split('\n').every((text) => text === '' || text.startsWith('{'))).toBe(true);
});
