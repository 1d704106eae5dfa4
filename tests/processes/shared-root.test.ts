import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKEN = 'the-token-of-these-tests';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const CLIENTS = 8;
const EDITS = 25;

test.each([2, 4])('%i processes that edit one file lose no edit', async (processes) => {
  const dir = tempDir('ringfence-shared-root-');
  const line = (client: number, edit: number) => `client ${client} edit ${edit};`;
  const file = path.join(dir, 'f.txt');
  fs.writeFileSync(file, Array.from({ length: CLIENTS }, (_, client) => `${line(client, 0)}\n`).join(''));
  await using server = await startServer({
    roots: [{ name: 'r', path: dir }],
    processes,
    era: 'modern',
    config: { durable_writes: false, log_level: 'debug' },
  });
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, number) => {
      const client = new RawClient(server.url);
      for (let edit = 1; edit <= EDITS; edit += 1) {
        const edits = [{ old_text: line(number, edit - 1), new_text: line(number, edit) }];
        await client.call('edit_file', { root: 'r', path: 'f.txt', edits });
      }
      client.close();
    }),
  );
  const expected = Array.from({ length: CLIENTS }, (_, client) => `${line(client, EDITS)}\n`).join('');
  const edited = fs.readFileSync(file, 'utf8');
  const kept = [...edited.matchAll(/edit (\d+);/g)].reduce((sum, [, edit]) => sum + Number(edit), 0);
  recordFigure(`edits of one file by ${processes} processes: lost`, CLIENTS * EDITS - kept, `of ${CLIENTS * EDITS}`);
  expect(edited).toBe(expected);
  const workers = new Set(server.logs().flatMap(({ worker, tool }) => (tool === 'edit_file' ? [worker] : [])));
  expect(workers.size).toBe(processes);
});

test('the history of a root has every change of every process, and one undoes what another did', async () => {
  const dir = tempDir('ringfence-shared-history-');
  await using server = await startServer({
    roots: [{ name: 'r', path: dir, ...{ history: true } }],
    processes: 3,
    era: 'modern',
    config: {
      durable_writes: false,
      auth: { tokens: [{ name: 't', sha256: sha256(TOKEN), roots: ['r'], undo: 'all' }] },
    },
    token: TOKEN,
  });
  const clients = Array.from({ length: 6 }, () => new RawClient(server.url, TOKEN));
  await Promise.all(
    clients.map(async (client, number) => {
      for (const content of ['first', 'second']) {
        await client.call('write_file', { root: 'r', path: `${number}.txt`, content });
      }
    }),
  );
  const { changes } = await (clients[0] as RawClient).call('list_changes', { root: 'r', limit: 100 });
  expect(changes).toHaveLength(12);
  const ids = changes.map(({ change }: { change: string }) => change);
  expect(new Set(ids).size).toBe(12);
  // The newest change of each file, undone by another client than the one that made it, on another connection.
  for (const [number, client] of clients.entries()) {
    const other = `${(number + 1) % clients.length}.txt`;
    const newest = changes.find((change: object) => JSON.stringify(change).includes(other));
    await client.call('undo_change', { root: 'r', change: newest.change });
    expect(fs.readFileSync(path.join(dir, other), 'utf8')).toBe('first');
  }
  for (const client of clients) client.close();
});
