import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import { startChild } from '../../../tests/support/child.ts';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { configFromDirs } from '../../config/folders/config-from-dirs.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { addCheckpoint } from '../../history/checkpoints.ts';
import { History, type HistoryOptions, pastSteps } from '../../history/index.ts';
import type { NamedRoot } from '../../tools/roots.ts';
import { openSharedService } from '../call/service.ts';
import { limitHistory } from './limit-histories.ts';

const folder = tempDir('ringfence-limits-');
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A service on one root with a history that is kept within limits. */
function limited(options: Partial<HistoryOptions>, inside = fs.mkdtempSync(path.join(folder, 'root-'))) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const service = openSharedService({ config: configFromDirs([inside]), logger });
  const { root } = service.roots.all()[0] as NamedRoot & { kind?: 'local' };
  if (!('parse' in root)) throw new Error('not a folder');
  const history = History.open(root, { keepMs: 16_000, maxBytes: 2000, over: 'allow', ...options });
  const stopping = new AbortController();
  limitHistory(service, root, stopping.signal);
  return {
    inside,
    lines,
    history,
    write: (name: string, size: number) => writeFile(root, root.parse(name), Buffer.alloc(size), { durable: false }),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      history[Symbol.dispose]();
      await service.close();
    },
  };
}

test('history that no longer fits is removed in the background, which the log says', async () => {
  await using kept = limited({});
  await addCheckpoint(kept.history, 'morning');
  for (const size of [900, 901, 902, 903]) await kept.write('f', size);
  await vi.waitFor(
    () => expect(kept.lines.map(({ msg, bytes, changes, limit }) => ({ msg, bytes, changes, limit }))).toHaveLength(1),
    15_000,
  );
  expect(kept.lines[0]).toMatchObject({
    level: 40,
    msg: 'history since the newest checkpoint removed',
    root: path.basename(kept.inside),
    limit: 'max_bytes',
    checkpoint: 'morning',
    bytes: 900,
  });
  expect(JSON.stringify(kept.lines)).not.toContain(kept.inside);
});

test('what a killed process left open is settled, and what was kept for nothing is let go', async () => {
  const inside = fs.mkdtempSync(path.join(folder, 'root-'));
  fs.writeFileSync(path.join(inside, 'f'), 'old');
  const child = startChild(
    `
    const { History } = await from('history/index.js');
    const history = History.open(root);
    await writeFile(root, path('g'), Buffer.from('new'), { durable: false });
    const dir = root.openDir(path('.'));
    await history.changeOf(undefined).put({ dir, name: 'f', path: 'f' }, dir.lstat('g'));
    answer('kept');
    await new Promise(() => setTimeout(() => {}, 60_000));`,
    { folder: inside },
  );
  await once(child.stdout as Readable, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const kept = path.join(inside, '.ringfence/kept/00000001');
  expect(fs.readdirSync(kept)).toHaveLength(1);
  await using server = limited({}, inside);
  await vi.waitFor(() => expect(server.lines).toHaveLength(1), 15_000);
  expect(server.lines[0]).toMatchObject({ level: 30, msg: 'history of killed processes settled', settled: 1 });
  expect(fs.readdirSync(kept)).toEqual([]);
  expect(fs.readFileSync(path.join(inside, 'f'), 'utf8')).toBe('old');
  expect([...pastSteps(server.history, { path: 'f' })].map(({ cancelled }) => cancelled)).toEqual([true]);
  expect([...pastSteps(server.history, { path: 'g' })].map(({ done }) => done !== undefined)).toEqual([true]);
});

test('what is older than keep goes without a further change', async () => {
  await using kept = limited({ keepMs: 2000 });
  for (const size of [1, 2]) await kept.write('f', size);
  const removed = () => kept.lines.filter(({ msg, limit }) => msg === 'old history removed' && limit === 'keep');
  await vi.waitFor(() => expect(removed().reduce((sum, { changes }) => sum + Number(changes), 0)).toBe(2), 20_000);
  expect(fs.readdirSync(path.join(kept.inside, '.ringfence/kept'))).toEqual([]);
});

test('a file that is too large for the history is named in the log', async () => {
  await using kept = limited({ maxBytes: 10 });
  await kept.write('f', 11);
  await kept.write('f', 1);
  expect(kept.lines).toMatchObject([
    { level: 40, msg: 'file too large for history', path: 'f', bytes: 11, max_bytes: 10 },
  ]);
});
