import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import type { BackendName } from '../../src/fence/index.ts';
import { recordFigure } from '../support/figures.ts';
import { startServer } from '../support/start-server.ts';
import { testSwappedFolder } from '../support/swap-attacks.ts';
import { OUTSIDE_NAME, swapLayout } from '../support/swap-layout.ts';
import { startSwapper } from '../support/swapper.ts';

const SECONDS = Number(process.env.TORTURE_SECONDS ?? 60);
const CLIENTS = 8;
const RACED_OPERATIONS = Number(process.env.TORTURE_OPERATIONS ?? 1_000_000);

type Step = (me: string, turn: number) => [tool: string, args: Record<string, unknown>];

const root = 'r';
const ends = (source: string, destination: string) => ({
  source_root: root,
  source_path: source,
  dest_root: root,
  dest_path: destination,
});

/** All of them through `dir/`, which is a folder one moment and a link out the next. */
const STEPS: readonly Step[] = [
  () => ['read_file', { root, path: 'dir/nested.txt' }],
  (_me, turn) => ['read_file', { root, path: `dir/victim-${turn % 4}`, line_offset: 1 }],
  () => ['list_folder', { root, path: 'dir' }],
  () => ['hash_file', { root, path: 'dir/nested.txt', algorithm: 'sha256' }],
  (_me, turn) => ['write_file', { root, path: `dir/victim-${turn % 4}`, content: 'ours' }],
  (_me, turn) => ['write_file', { root, path: `dir/victim-${turn % 4}`, content: 'ours', mode: 'append' }],
  (me, turn) => ['write_file', { root, path: `dir/new-${me}-${turn}`, content: 'ours', mode: 'create_only' }],
  (me, turn) => ['copy', ends('dir/nested.txt', `kept/${me}-${turn % 4}`)],
  (me) => ['copy', ends('dir', `kept/tree-${me}`)],
  (me, turn) => ['copy', ends('file.txt', `dir/copied-${me}-${turn % 4}`)],
  (me, turn) => ['read_file', { root, path: `kept/${me}-${turn % 4}` }],
  (me) => ['grep', { root, path: `kept/tree-${me}`, pattern: 'SECRET' }],
  (me) => ['remove_folder', { root, path: `kept/tree-${me}` }],
  (me, turn) => ['move', ends(`dir/victim-${turn % 4}`, `dir/moved-${me}`)],
  (me, turn) => ['move', ends(`dir/moved-${me}`, `dir/victim-${turn % 4}`)],
  (_me, turn) => ['remove_file', { root, path: `dir/victim-${turn % 4}` }],
  (me, turn) => ['remove_file', { root, path: `dir/new-${me}-${turn}` }],
  (me) => ['create_folder', { root, path: `dir/made-${me}/inner` }],
  (me) => ['remove_folder', { root, path: `dir/made-${me}` }],
  () => ['remove_folder', { root, path: 'dir/empty' }],
  () => ['grep', { root, path: 'dir', pattern: 'SECRET' }],
  () => ['grep', { root, path: '', pattern: 'SECRET' }],
  () => ['glob', { root, path: 'dir', pattern: '**' }],
  () => ['glob', { root, path: '', pattern: '**/*.txt' }],
  () => ['stat_file', { root, path: `dir/${OUTSIDE_NAME}` }],
  () => ['permissions_file', { root, path: 'dir/nested.txt' }],
];

const SECRET_HASH = createHash('sha256').update(SECRET).digest('hex');

function leak(tool: string, { isError, text, structured }: { isError: boolean; text: string; structured: unknown }) {
  const shown = `${text}\n${JSON.stringify(structured)}`;
  const named = !isError && tool !== 'read_file' && shown.includes(OUTSIDE_NAME);
  return shown.includes(SECRET) || shown.includes(SECRET_HASH) || named ? `${tool}: ${shown}` : undefined;
}

testSwappedFolder({ seconds: SECONDS, operations: RACED_OPERATIONS, limitSeconds: 1_200 });

describe.each<BackendName>(['openat2', 'procfd'])('eight clients and a swapped folder, on %s', (backend) => {
  test(`nothing leaks and nothing outside is touched in ${SECONDS} s`, { timeout: (SECONDS + 60) * 1000 }, async () => {
    using layout = swapLayout();
    const before = layout.snapshotOutside();
    await using server = await startServer({
      roots: [{ name: root, path: layout.rootPath }],
      config: { durable_writes: false },
      env: { RINGFENCE_FENCE: backend },
    });
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => server.connect()));
    await using swapper = await startSwapper(layout.first, layout.second, SECONDS + 2);
    const end = performance.now() + SECONDS * 1000;
    const leaks: string[] = [];
    let succeeded = 0;
    let refused = 0;
    let internal = 0;

    await Promise.all(
      clients.map(async (client, me) => {
        for (let turn = me; performance.now() < end; turn += 1) {
          for (const step of STEPS) {
            const [tool, args] = step(String(me), turn);
            const result = await client.call(tool, args);
            const leaked = leak(tool, result);
            if (leaked !== undefined) leaks.push(leaked);
            if (result.isError) refused += 1;
            else succeeded += 1;
            if (/internal error/i.test(result.text)) internal += 1;
          }
        }
        await client[Symbol.asyncDispose]();
      }),
    );

    const swaps = await swapper.finished();
    recordFigure(`swapped folder, tools on ${backend}: raced calls`, succeeded + refused, 'calls');
    recordFigure(`swapped folder, tools on ${backend}: swaps`, swaps, 'swaps');
    recordFigure(`swapped folder, tools on ${backend}: escapes`, leaks.length, 'escapes');
    expect(swaps).toBeGreaterThan(1000);
    expect(leaks).toEqual([]);
    expect(layout.snapshotOutside()).toBe(before);
    expect(internal).toBe(0);
    expect(succeeded).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });
});

test('control: the reference server leaks under the same attack', { timeout: 90_000 }, async () => {
  using layout = swapLayout();
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  const program = path.join(path.dirname(entry), 'dist/index.js');
  await using server = await startServer({ program, args: [layout.rootPath] });
  await using _swapper = await startSwapper(layout.first, layout.second, 60);
  const end = performance.now() + 60_000;
  const file = path.join(layout.first, 'nested.txt');
  let leaked = false;
  while (!leaked && performance.now() < end) {
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () => server.call('read_text_file', { path: file })),
    );
    leaked = answers.some(({ text }) => text.includes(SECRET));
  }
  expect(leaked).toBe(true);
});
