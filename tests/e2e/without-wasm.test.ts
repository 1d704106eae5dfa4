import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRingfence } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
const root = path.basename(dir);

beforeAll(() => {
  fs.writeFileSync(path.join(dir, 'ascii.txt'), 'a "b"\t\\ line\r\n'.repeat(20_000));
  fs.writeFileSync(path.join(dir, 'short.txt'), 'one\n\ntwo "three"\u0001'.repeat(30));
  fs.writeFileSync(path.join(dir, 'more.txt'), 'Müller "€" \u{1f600}\n'.repeat(20_000));
  fs.mkdirSync(path.join(dir, 'many'));
  for (let i = 0; i < 400; i += 1) fs.writeFileSync(path.join(dir, 'many', `"ü" ${i}`), '');
});
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const CALLS: readonly (readonly [tool: string, args: object])[] = [
  ...['ascii.txt', 'short.txt', 'more.txt'].flatMap((file) => [
    ['read_file', { path: file }] as const,
    ['read_file', { path: file, offset_lines: 3, limit_lines: 15_000 }] as const,
    ['read_file', { path: file, offset_bytes: 2, limit_bytes: 100_000 }] as const,
  ]),
  ['list_folder', { path: 'many' }],
  ['grep', { pattern: 'M[üu]ller "€"', max_results: 300 }],
  ['grep', { pattern: 'THREE', case_insensitive: true }],
];

/** All answers, by the id of their request. */
async function answers(...nodeOptions: string[]): Promise<Map<number, unknown>> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } };
  const requests = [
    { id: 0, method: 'initialize', params },
    { method: 'notifications/initialized' },
    ...CALLS.map(([name, args], i) => ({
      id: i + 1,
      method: 'tools/call',
      params: { name, arguments: { root, ...args } },
    })),
  ];
  const stdin = requests.map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`).join('');
  const { code, stdout } = await runRingfence(['stdio', dir], { stdin, nodeOptions });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ id, result }) => [id, result]));
}

test('where there is no WebAssembly, all answers are the same', async () => {
  const usual = await answers();
  expect(execFileSync(process.execPath, ['--no-expose-wasm', '-p', 'typeof WebAssembly'], { encoding: 'utf8' })).toBe(
    'undefined\n',
  );
  const without = await answers('--no-expose-wasm');
  expect(usual.size).toBe(CALLS.length + 1);
  for (const [i, call] of CALLS.entries()) {
    expect(usual.get(i + 1), JSON.stringify(call)).toMatchObject({ structuredContent: expect.anything() });
    expect(without.get(i + 1), JSON.stringify(call)).toEqual(usual.get(i + 1));
  }
});
