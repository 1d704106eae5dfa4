import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { configFromDirs } from '../../src/config/folders/config-from-dirs.ts';
import { DEFAULT_HISTORY } from '../../src/history/index.ts';
import { InProcessServer } from '../support/in-process-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ID = /^[0-9a-z]{12}$/;
const base = tempDir('ringfence-history-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let made = 0;
/** Makes a folder with a few files. */
function folderWithFiles(): string {
  made += 1;
  const folder = path.join(base, String(made), 'w');
  fs.mkdirSync(path.join(folder, 'dir'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'a.txt'), 'one\n');
  fs.writeFileSync(path.join(folder, 'dir/b.txt'), 'two\n');
  return folder;
}

const w = { root: 'w' };
const write = (file: string, content: string) => ({ ...w, path: file, content });

function start(folder: string, keys: object = {}): InProcessServer<'workspace'> {
  const config = configFromDirs([folder]);
  const roots = config.roots.map((root) => ({ ...root, history: DEFAULT_HISTORY, ...keys })) as never;
  return new InProcessServer({ dialect: 'workspace', config: { ...config, durableWrites: false, roots } });
}

const ids = async (rf: Pick<InProcessServer<'workspace'>, 'ok'>, more: object = {}): Promise<string[]> =>
  (await rf.ok('list_changes', { ...w, ...more })).changes.map(({ change }: { change: string }) => change);

describe('list_changes', () => {
  test('shows the newest first, up to a limit, and those of a path, also through links and folders above', async () => {
    const folder = folderWithFiles();
    fs.symlinkSync('dir', path.join(folder, 'link'));
    await using rf = start(folder);
    const { change: a } = await rf.ok('write_file', write('a.txt', 'x'));
    const { change: b } = await rf.ok('write_file', write('link/b.txt', 'x'));
    const { change: c } = await rf.ok('write_file', write('new/deep/c.txt', 'x'));
    expect(await ids(rf)).toEqual([c, b, a]);
    expect(await rf.ok('list_changes', { ...w, limit: 2 })).toMatchObject({ more: true });
    expect(await ids(rf, { limit: 2 })).toEqual([c, b]);
    expect(await ids(rf, { path: 'dir' })).toEqual([b]);
    expect(await ids(rf, { path: 'link/b.txt' })).toEqual([b]);
    expect(await ids(rf, { path: 'new' })).toEqual([c]);
    const { change: gone } = await rf.ok('remove_folder', { ...w, path: 'new' });
    expect(await ids(rf, { path: 'new/deep/c.txt' })).toEqual([gone, c]);
    expect(await ids(rf, { path: 'nothing' })).toEqual([]);
    expect((await rf.ok('list_changes', { ...w, path: 'new/deep/c.txt' })).changes[1].steps).toEqual([
      'made folder new',
      'made folder new/deep',
      'created new/deep/c.txt',
    ]);
    expect(await rf.fails('list_changes', { ...w, path: '../x' })).toContain('outside root boundary');
  });

  test('names no more than ten steps of a change', async () => {
    const folder = folderWithFiles();
    for (let at = 0; at < 15; at += 1) fs.writeFileSync(path.join(folder, 'dir', `${at}`), '');
    await using rf = start(folder);
    fs.mkdirSync(path.join(folder, 'to/dir'), { recursive: true });
    await rf.ok('copy', { source_root: 'w', source_path: 'dir', dest_root: 'w', dest_path: 'to' });
    const [listed] = (await rf.ok('list_changes', w)).changes;
    expect([listed.steps.length, listed.steps_omitted]).toEqual([10, 6]);
  });
});

describe('undo_change', () => {
  test('names what is in the way, and changes nothing', async () => {
    const folder = folderWithFiles();
    await using rf = start(folder);
    const { change: first } = await rf.ok('write_file', write('a.txt', 'first'));
    const { change: second } = await rf.ok('write_file', write('a.txt', 'second'));
    expect(await rf.fails('undo_change', { ...w, change: first })).toBe(
      `cannot be undone, nothing was changed: a.txt was changed since (change ${second}); undo newer changes of yours first, or edit by hand (root: w)`,
    );
    const { change: removed } = await rf.ok('remove_file', { ...w, path: 'dir/b.txt' });
    fs.writeFileSync(path.join(folder, 'dir/b.txt'), 'by somebody else');
    expect(await rf.fails('undo_change', { ...w, change: removed })).toContain('dir/b.txt exists again');
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('second');
    expect(fs.readFileSync(path.join(folder, 'dir/b.txt'), 'utf8')).toBe('by somebody else');
  });

  test('knows no other changes', async () => {
    await using rf = start(folderWithFiles());
    const { change } = await rf.ok('write_file', write('a.txt', 'x'));
    const other = `${change.slice(0, -1)}${change.endsWith('0') ? '1' : '0'}`;
    for (const id of [other, 'nonsense', '', '../../etc', 'zzzzzzzzzzzz'])
      expect(await rf.fails('undo_change', { ...w, change: id })).toBe(
        `no such change: ${id}; list_changes shows those that can be undone (root: w)`,
      );
    expect(await rf.fails('undo_change', { ...w, change: '000000000000' })).toContain('is no longer in the history');
    expect(await rf.fails('undo_change', { root: 'v', change })).toContain('unknown root: v');
  });

  test('is allowed by the operator, where a root has history', async () => {
    const folder = folderWithFiles();
    await using rf = start(folder, { allowed: ['write_file'] });
    const { change } = await rf.ok('write_file', write('a.txt', 'x'));
    expect(change).toMatch(ID);
    expect(await rf.fails('undo_change', { ...w, change })).toBe(
      'tool undo_change not allowed on root w; list_roots shows what is',
    );
    expect(await rf.fails('list_changes', w)).toContain('tool list_changes not allowed on root w');
  });
});

describe('an undo that a person has to agree to', () => {
  const asked: string[] = [];
  const person = (answer: 'agreed' | 'declined') => ({
    confirm: async ({ message }: { readonly message: string }) => {
      asked.push(message);
      return answer;
    },
  });

  test('happens only then, and the question says what would be lost', async () => {
    const folder = folderWithFiles();
    await using rf = start(folder, { confirm: ['undo_change'] });
    const written = await rf.ok('write_file', write('a.txt', 'newer'));
    const refused = await rf.call('undo_change', { ...w, change: written.change }, person('declined'));
    expect([refused.isError, asked.splice(0)]).toEqual([
      true,
      ['Allow undo_change on "a.txt" (root: w)? If so, the file (5 bytes) there now would be replaced and lost.'],
    ]);
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('newer');
    await rf.ok('undo_change', { ...w, change: written.change }, person('agreed'));
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('one\n');
    asked.splice(0);
  });

  test.each([
    ['remove_folder', { ...w, path: 'dir' }, ['"dir"']],
    ['create_folder', { ...w, path: 'x/y' }, ['"x/y"', '"x"']],
    ['move', { source_root: 'w', source_path: 'dir', dest_root: 'w', dest_path: 'x/new' }, ['"x/new"', '"dir"', '"x"']],
    ['copy', { source_root: 'w', source_path: 'a.txt', dest_root: 'w', dest_path: 'dir/b.txt' }, ['"dir/b.txt"']],
    ['write_file', { ...write('a.txt', 'more'), mode: 'append' }, ['"a.txt"']],
  ])('is never made without a question: %s', async (tool, args, named) => {
    const folder = folderWithFiles();
    await using rf = start(folder, { confirm: ['undo_change'] });
    const { change } = await rf.ok(tool, args);
    expect((await rf.call('undo_change', { ...w, change }, person('declined'))).isError).toBe(true);
    const [question = ''] = asked.splice(0);
    for (const name of named) expect(question).toContain(name);
    const { change: undo } = await rf.ok('undo_change', { ...w, change }, person('agreed'));
    await rf.ok('undo_change', { ...w, change: undo }, person('agreed'));
    expect(asked.splice(0)).toHaveLength(2);
  });

  test('is refused if it is too long for a question', async () => {
    const folder = folderWithFiles();
    for (let at = 0; at < 60; at += 1) fs.writeFileSync(path.join(folder, 'dir', `${at}`), '');
    fs.mkdirSync(path.join(folder, 'to/dir'), { recursive: true });
    await using rf = start(folder, { confirm: ['undo_change'] });
    const { change } = await rf.ok('copy', { source_root: 'w', source_path: 'dir', dest_root: 'w', dest_path: 'to' });
    const { text } = await rf.call('undo_change', { ...w, change }, person('agreed'));
    expect(text).toContain('has 61 steps, too many for a person to agree to');
    expect(asked).toEqual([]);
  });
});

describe('what is too large to be kept', () => {
  test('is changed all the same, and the result says so', async () => {
    await using rf = start(folderWithFiles(), { history: { ...DEFAULT_HISTORY, maxBytes: 2 } });
    const result = await rf.ok('write_file', write('a.txt', 'x'));
    expect(result).toMatchObject({ change: expect.stringMatching(ID), not_kept: 1 });
    expect(await rf.fails('undo_change', { ...w, change: result.change })).toContain('a.txt was too large to be kept');
  });

  test('stays as it is with over: refuse', async () => {
    const folder = folderWithFiles();
    await using rf = start(folder, { history: { ...DEFAULT_HISTORY, maxBytes: 2, over: 'refuse' } });
    const problem = 'too large for the history of this root (size: 4 bytes, limit: 2 bytes)';
    expect(await rf.fails('write_file', write('a.txt', 'x'))).toContain(problem);
    expect(await rf.fails('remove_file', { ...w, path: 'a.txt' })).toContain(problem);
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('one\n');
    await rf.ok('write_file', write('new.txt', 'larger than that'));
  });
});
