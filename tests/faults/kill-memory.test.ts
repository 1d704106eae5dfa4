import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { memory } from '../../src/fence/sandbox.fixture.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const KILLS = 25;
const BODY = 'a line of a note that is about one megabyte long\n'.repeat(21_400);
const NOTE = 'gtd/big.md';

/** The file after so many edits: an insert puts a line below the first, a replacement takes it away and counts on. */
function contentAfter(edits: number): string {
  const round = Math.floor(edits / 2);
  return `edit ${round}\n${edits % 2 === 1 ? `inserted ${round}\n` : ''}${BODY}`;
}

function edit(server: TestServer<'memory'>, edits: number): Promise<{ isError: boolean; text: string }> {
  const round = Math.floor(edits / 2);
  if (edits % 2 === 0) return server.call('insert', { path: NOTE, insert_line: 2, new_str: `inserted ${round}\n` });
  const [old_str, new_str] = [`edit ${round}\ninserted ${round}\n`, `edit ${round + 1}\n`];
  return server.call('str_replace', { path: NOTE, old_str, new_str });
}

const temporary = (folder: string) => fs.readdirSync(folder).filter((name) => name.startsWith('.ringfence-tmp-'));
const start = (base: string) => startServer({ dialect: 'memory', env: { BASE_PATH: base } });

/** Waits until a file is being written, at most so many looks long. */
async function untilWriting(folder: string, known: number): Promise<void> {
  for (let look = 0; look < 2_000 && temporary(folder).length <= known; look += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Edits without a pause and kills the server in between; returns how many edits the file has seen. */
async function editUntilKilled(base: string, edits: number, turn: number): Promise<number> {
  const folder = path.join(base, 'gtd');
  await using server = await start(base);
  let done = edits;
  const editing = (async () => {
    for (;;) {
      const { isError, text } = await edit(server, done);
      if (isError) throw new Error(text);
      done += 1;
    }
  })();
  editing.catch(() => {});
  await expect.poll(() => done, { interval: 1, timeout: 15_000 }).toBeGreaterThan(edits);
  // Every other time exactly while a file is written, else at any moment.
  if (turn % 2 === 0) await untilWriting(folder, temporary(folder).length);
  else await new Promise((resolve) => setTimeout(resolve, (turn * 7) % 23));
  expect(await server.stop('SIGKILL')).toBe(null);
  // The connection is gone, and with it the edit that was under way.
  await expect(editing).rejects.toThrow();
  await expect(editing).rejects.not.toThrow(/"code"/);

  const content = fs.readFileSync(path.join(base, NOTE), 'utf8');
  const seen = content === contentAfter(done) ? done : done + 1;
  // Not compared by vitest, which would print a megabyte.
  if (content !== contentAfter(seen)) throw new Error(`neither whole nor old: ${content.length} characters`);
  return seen;
}

test(`file-storage-backend/AC-22: \`ringfence memory\`, killed ${KILLS} times while it edits a file of 1 MB, leaves it wholly old or wholly new`, async () => {
  const base = tempDir('ringfence-kill-memory-', memory());
  fs.mkdirSync(path.join(base, 'gtd'));
  fs.writeFileSync(path.join(base, NOTE), contentAfter(0));
  let edits = 0;
  let hits = 0;
  for (let turn = 0; turn < KILLS; turn += 1) {
    const before = new Set(temporary(path.join(base, 'gtd')));
    edits = await editUntilKilled(base, edits, turn);
    hits += temporary(path.join(base, 'gtd')).filter((name) => !before.has(name)).length;
  }
  expect(edits).toBeGreaterThanOrEqual(KILLS);
  expect(hits, 'no kill hit a file while it was written').toBeGreaterThan(0);

  // One more, in case the later servers have removed what the earlier ones left.
  fs.writeFileSync(path.join(base, 'gtd', '.ringfence-tmp-elsewhere'), '');
  fs.utimesSync(path.join(base, 'gtd', '.ringfence-tmp-elsewhere'), 0, 0);
  await using server = await start(base);
  const entries = async (folder: string) => (await server.call('view', { path: folder })).structured.entries;
  expect([await entries('.'), await entries('gtd')]).toEqual([['gtd'], ['big.md']]);
  await server.waitForLog(({ msg }) => msg === 'leftover temporary files removed');
  expect(fs.readdirSync(path.join(base, 'gtd'))).toEqual(['big.md']);
  expect((await edit(server, edits)).isError).toBe(false);
  fs.rmSync(base, { recursive: true });
}, 120_000);
