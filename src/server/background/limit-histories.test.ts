import fs from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { configFromDirs } from '../../config/config-from-dirs.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { addCheckpoint } from '../../history/checkpoints.ts';
import { History, type HistoryOptions } from '../../history/index.ts';
import type { NamedRoot } from '../../tools/roots.ts';
import { openSharedService } from '../call/service.ts';
import { limitHistories } from './limit-histories.ts';

const folder = tempDir('ringfence-limits-');
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A service on one root with a history that is kept within limits. */
function limited(options: Partial<HistoryOptions>) {
  const inside = fs.mkdtempSync(path.join(folder, 'root-'));
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const service = openSharedService({ config: configFromDirs([inside]), logger });
  const { root } = service.roots.all()[0] as NamedRoot & { kind?: 'local' };
  if (!('parse' in root)) throw new Error('not a folder');
  const history = History.open(root, { keepMs: 16_000, maxBytes: 2000, over: 'allow', ...options });
  const limits = limitHistories(service);
  return {
    inside,
    lines,
    history,
    write: (name: string, size: number) => writeFile(root, root.parse(name), Buffer.alloc(size), { durable: false }),
    async [Symbol.asyncDispose]() {
      limits.stop();
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
