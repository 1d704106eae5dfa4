import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConsoleServer, type ConsoleUser } from '../support/console-server.ts';

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`);
const text = (changes: Readonly<Record<number, string>>) =>
  LINES.map((line, index) => (changes[index + 1] === undefined ? line : `${changes[index + 1]}\n`)).join('');

let server: ConsoleServer;
let operator: ConsoleUser;
beforeEach(async () => {
  server = await ConsoleServer.start();
  operator = await server.signIn('operator');
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const write = (path: string, content: string, root = 'code') =>
  server.agent.ok('write_file', { root, path, content, mode: 'overwrite' });
const changes = async (query = 'limit=50') => (await operator.get(`history/code?${query}`)).body;
const newest = async () => (await changes()).changes[0];
const review = async (since = '') => (await operator.get(`review/code${since && `?since=${since}`}`)).body;
const decide = (id: string, decision: 'accept' | 'take_back', files: unknown) =>
  operator.post('review/code', { id, decision, files });

describe('changes', () => {
  test('are listed, newest first and page by page', async () => {
    for (const name of ['a', 'b', 'c']) await write(`${name}.txt`, name);
    const first = await changes('limit=2');
    expect(first.changes).toMatchObject([
      { tool: 'write_file', client: 'agent', paths: ['c.txt'], files: 1, undone: false, time: expect.any(Number) },
      { paths: ['b.txt'] },
    ]);
    expect([first.more, first.checkpoints]).toEqual([true, []]);
    const second = await changes(`limit=2&before=${first.changes[1].id}`);
    expect([second.changes.length, second.changes[0].paths, second.more]).toEqual([1, ['a.txt'], false]);
  });

  test('are shown as diffs', async () => {
    server.place('code', 'f.txt', text({}));
    await write('f.txt', text({ 3: 'three', 30: 'thirty' }));
    const { files, truncated } = (await operator.get(`history/code/${(await newest()).id}`)).body;
    expect(truncated).toBe(false);
    expect(files).toMatchObject([
      { path: 'f.txt', from: null, status: 'changed', kind: 'file', hidden: null, part_of: null },
    ]);
    expect(files[0].hunks).toHaveLength(2);
    expect(files[0].hunks[0]).toEqual({
      id: expect.any(String),
      header: '@@ -1,6 +1,6 @@',
      lines: [' line 1', ' line 2', '-line 3', '+three', ' line 4', ' line 5', ' line 6'],
    });
  });

  test('are undone, and so is the undo', async () => {
    server.place('code', 'f.txt', 'before');
    await write('f.txt', 'after');
    const { id } = await newest();
    const undone = await operator.post('history/code/undo', { change: id });
    expect([undone.status, server.text('code', 'f.txt')]).toEqual([200, 'before']);
    const [undo, change] = (await changes()).changes;
    expect([undo.id, undo.client, undo.tool, change.undone]).toEqual([undone.body.change, 'operator', 'console', true]);
    expect((await operator.post('history/code/undo', { change: id })).status).toBe(409);
    expect((await operator.post('history/code/undo', { change: undo.id })).status).toBe(200);
    expect(server.text('code', 'f.txt')).toBe('after');
  });

  test('are not undone over newer work, unless by force', async () => {
    server.place('code', 'f.txt', 'one');
    await write('f.txt', 'two');
    const { id } = await newest();
    await write('f.txt', 'three');
    const refused = await operator.post('history/code/undo', { change: id });
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        error: 'newer work is in the way, so nothing was taken back',
        conflicts: [{ path: 'f.txt', reason: 'was changed since' }],
      },
    ]);
    expect(server.text('code', 'f.txt')).toBe('three');
    expect((await operator.post('history/code/undo', { change: id, force: true })).status).toBe(200);
    expect(server.text('code', 'f.txt')).toBe('one');
    expect((await operator.post('history/code/undo', { change: (await newest()).id })).status).toBe(200);
    expect(server.text('code', 'f.txt')).toBe('three');
  });

  test('of another root, or that there are not, are not found', async () => {
    await write('f.txt', 'x');
    const { id } = await newest();
    const writer = await server.signIn('writer');
    for (const at of [
      'history/code?limit=5',
      `history/code/${id}`,
      'review/code',
      'history/nowhere',
      'review/__proto__',
    ]) {
      expect((await writer.get(at)).status).toBe(404);
    }
    expect((await writer.post('history/code/undo', { change: id })).status).toBe(404);
    expect((await writer.post('review/code', { id: `${Date.now()}.`, decision: 'accept', files: 'all' })).status).toBe(
      404,
    );
    expect((await writer.get(`history/docs/${id}`)).status).toBe(404);
    expect((await operator.get('history/code/zzzzzzzzzzzz')).status).toBe(404);
  });

  test('are only looked at with a token that may not undo', async () => {
    await write('f.txt', 'x');
    const { id } = await newest();
    const guest = await server.signIn('guest');
    expect((await guest.get('state')).body.me.may_undo).toBe(false);
    expect((await guest.get(`history/code/${id}`)).status).toBe(200);
    expect((await guest.post('history/code/undo', { change: id })).status).toBe(403);
    expect((await guest.post('review/code', { id: `${Date.now()}.`, decision: 'accept', files: 'all' })).status).toBe(
      403,
    );
    expect(server.text('code', 'f.txt')).toBe('x');
  });

  test('of files that are denied by now are not shown', async () => {
    await using open = await ConsoleServer.start();
    await open.agent.ok('create_folder', { root: 'code', path: 'd' });
    await open.agent.fails('write_file', { root: 'code', path: 'secret.txt', content: 'x', mode: 'overwrite' });
    const user = await open.signIn('operator');
    expect(JSON.stringify((await user.get('history/code')).body)).not.toContain('secret');
  });
});

describe('a review', () => {
  beforeEach(async () => {
    server.place('code', 'f.txt', text({}));
    server.place('code', 'gone.txt', 'gone');
    await write('f.txt', text({ 3: 'three', 30: 'thirty' }));
    await write('new/a.txt', 'a');
    await server.agent.ok('remove_file', { root: 'code', path: 'gone.txt' });
  });

  test('shows what happened, deletions first, and what belongs to a folder with it', async () => {
    const { since, files, truncated } = await review();
    expect([since, truncated]).toEqual([null, false]);
    const facts = files.map(({ path, status, kind, part_of, divisible }: Record<string, unknown>) => [
      ...[path, status, kind, part_of, divisible],
    ]);
    expect(facts).toEqual([
      ['gone.txt', 'removed', 'file', null, false],
      ['f.txt', 'changed', 'file', null, true],
      ['new', 'added', 'folder', null, false],
      ['new/a.txt', 'added', 'file', 'new', false],
    ]);
  });

  test('is accepted as a whole, which is a checkpoint', async () => {
    const { id } = await review();
    expect(await decide(id, 'accept', 'all')).toMatchObject({ status: 200, body: { change: null } });
    const after = await review();
    expect([after.since.name, after.files]).toEqual(['checkpoint-1', []]);
    expect(server.text('code', 'f.txt')).toBe(text({ 3: 'three', 30: 'thirty' }));
    await write('later.txt', 'x');
    expect((await review()).files).toMatchObject([{ path: 'later.txt' }]);
    expect((await changes()).checkpoints).toMatchObject([{ name: 'checkpoint-1' }]);
    expect((await operator.get('review/code?since=nowhere')).status).toBe(404);
  });

  test('is taken back as a whole, which can be undone', async () => {
    const { id } = await review();
    const { status, body } = await decide(id, 'take_back', 'all');
    expect([status, server.text('code', 'f.txt')]).toEqual([200, text({})]);
    expect([server.text('code', 'gone.txt'), server.text('code', 'new/a.txt')]).toEqual(['gone', undefined]);
    expect((await operator.post('history/code/undo', { change: body.change })).status).toBe(200);
    expect([server.text('code', 'gone.txt'), server.text('code', 'new/a.txt')]).toEqual([undefined, 'a']);
  });

  test('is decided file by file', async () => {
    const { id } = await review();
    expect((await decide(id, 'take_back', [{ path: 'gone.txt' }])).status).toBe(200);
    expect((await decide(id, 'accept', [{ path: 'f.txt' }])).status).toBe(200);
    expect(server.text('code', 'gone.txt')).toBe('gone');
    const { files, id: next } = await review();
    expect(files.map(({ path }: { path: string }) => path)).toEqual(['new', 'new/a.txt']);
    expect((await decide(next, 'take_back', [{ path: 'new' }])).status).toBe(200);
    expect((await review()).files).toEqual([]);
    expect(server.text('code', 'f.txt')).toBe(text({ 3: 'three', 30: 'thirty' }));
  });

  test('is decided hunk by hunk', async () => {
    const shown = await review();
    const [first, second] = shown.files[1].hunks;
    expect((await decide(shown.id, 'accept', [{ path: 'f.txt', hunks: [first.id] }])).status).toBe(200);
    const rest = await review();
    expect(rest.files[1].hunks).toHaveLength(1);
    expect((await decide(rest.id, 'take_back', [{ path: 'f.txt', hunks: [second.id] }])).status).toBe(200);
    expect(server.text('code', 'f.txt')).toBe(text({ 3: 'three' }));
    expect((await review()).files.map(({ path }: { path: string }) => path)).not.toContain('f.txt');
  });

  test('is about what was shown, not about what came later', async () => {
    const { id, files } = await review();
    await write('f.txt', text({ 3: 'THREE', 30: 'thirty' }));
    await write('other.txt', 'x');
    const hunk = files[1].hunks[0].id;
    expect((await decide(id, 'take_back', [{ path: 'f.txt', hunks: [hunk] }])).status).toBe(409);
    const whole = await decide(id, 'take_back', [{ path: 'f.txt' }]);
    expect([whole.status, whole.body.conflicts]).toEqual([409, [{ path: 'f.txt', reason: 'was changed since' }]]);
    expect(server.text('code', 'f.txt')).toBe(text({ 3: 'THREE', 30: 'thirty' }));
    expect((await decide(id, 'accept', 'all')).status).toBe(200);
    expect((await review()).files.map(({ path }: { path: string }) => path)).toEqual(['f.txt', 'other.txt']);
  });

  test('is not taken back over what another program did', async () => {
    const { id } = await review();
    server.place('code', 'f.txt', text({ 3: 'by hand', 30: 'thirty' }));
    expect((await decide(id, 'take_back', [{ path: 'f.txt' }])).status).toBe(409);
    expect(server.text('code', 'f.txt')).toBe(text({ 3: 'by hand', 30: 'thirty' }));
  });

  test.each(['', 'x', '1', `${Date.now() + 1e9}.`, '5.nowhere', '-1.'])('of the id %j does not exist', async (id) => {
    expect([404, 409]).toContain((await decide(id, 'accept', 'all')).status);
  });
});
