import fs from 'node:fs';
import { expect, test } from 'vitest';
import { onEveryBackend, outcome, type Sandbox } from '../fence/sandbox.fixture.ts';
import { DEFAULT_HISTORY, History, type HistoryOptions, type PastStep, pastSteps } from '../history/index.ts';
import { type Caller, DEFAULT_CONTEXT } from '../runtime/operation-context.ts';
import { copy } from './copy/copy.ts';
import { move } from './copy/move.ts';
import { patchFile, replaceText } from './edit/edit-file.ts';
import { removeEntry, removeFile } from './remove/remove-entry.ts';
import { removeFolder } from './remove/remove-folder.ts';
import { makeFolder } from './write/make-folder.ts';
import { writeFile } from './write/write-file.ts';

const context = (caller: Caller = { tool: 'test' }) => ({ ...DEFAULT_CONTEXT, caller });

/** The steps of a history, oldest first, as one line each: what happened, where, and what is kept of it. */
function steps(box: Sandbox, history: History): string[] {
  return [...pastSteps(history)].reverse().map((past) => describe(box, past));
}

function describe(box: Sandbox, { step, done, cancelled }: PastStep): string {
  const { kind, path, to, kept } = step;
  const where = to === undefined ? path : `${path} -> ${to}`;
  const state = cancelled ? ' cancelled' : done === undefined ? ' unknown' : '';
  return `${kind} ${where}${kept === undefined ? '' : ` kept ${contentOf(box.host('.ringfence/kept', kept))}`}${state}`;
}

function contentOf(host: string): string {
  const stats = fs.lstatSync(host, { throwIfNoEntry: false });
  if (stats === undefined) return 'nothing';
  if (stats.isSymbolicLink()) return `-> ${fs.readlinkSync(host)}`;
  return stats.isDirectory() ? `[${fs.readdirSync(host).sort()}]` : fs.readFileSync(host, 'utf8');
}

onEveryBackend((open, backend) => {
  const start = (options: Partial<HistoryOptions> = {}) => {
    const box = open();
    const history = History.open(box.root, { ...DEFAULT_HISTORY, ...options });
    return { box, history, parse: (raw: string) => box.root.parse(raw), at: (raw: string) => box.at(raw) };
  };

  test('a new file, and the folders made for it, are one change', async () => {
    const { box, history, parse } = start();
    using _box = box;
    await writeFile(box.root, parse('a/b/f'), Buffer.from('new'), {}, context());
    expect(steps(box, history)).toEqual(['make a', 'make a/b', 'put a/b/f']);
    expect(new Set([...pastSteps(history)].map(({ step }) => step.change)).size).toBe(1);
    const [put] = [...pastSteps(history)];
    const now = fs.statSync(box.host('a/b/f'));
    expect(put?.done?.after).toMatchObject({ type: 'file', ino: now.ino, size: 3, mtimeMs: now.mtimeMs });
  });

  test('what a write, an edit and a patch replace is kept as it was', async () => {
    const { box, history, parse } = start();
    using _box = box;
    box.file('f', 'one\n', 0o640);
    const before = fs.statSync(box.host('f'));
    await writeFile(box.root, parse('f'), Buffer.from('two\n'), {}, context());
    await replaceText(box.root, parse('f'), { oldText: 'two', newText: 'three' }, context());
    await patchFile(box.root, parse('f'), '@@ -1 +1 @@\n-three\n+four\n', context());
    expect(box.text('f')).toBe('four\n');
    expect(steps(box, history)).toEqual(['put f kept one\n', 'put f kept two\n', 'put f kept three\n']);
    const first = [...pastSteps(history)].at(-1)?.step;
    const kept = fs.statSync(box.host('.ringfence/kept', first?.kept ?? ''));
    expect(kept).toMatchObject({ ino: before.ino, mode: before.mode, mtimeMs: before.mtimeMs });
    expect(first?.before).toMatchObject({ type: 'file', ino: before.ino, mode: 0o640, size: 4 });
  });

  test('a condition on the version holds although keeping a file changes its status', async () => {
    const { box, history, parse } = start();
    using _box = box;
    box.file('f', 'one');
    const { versionOf } = await import('./version.ts');
    const ifMatch = versionOf(fs.statSync(box.host('f')));
    await writeFile(box.root, parse('f'), Buffer.from('two'), { ifMatch }, context());
    expect(await outcome(writeFile(box.root, parse('f'), Buffer.from('x'), { ifMatch }, context()))).toBe(
      'version_mismatch',
    );
    expect(box.text('f')).toBe('two');
    expect(steps(box, history)).toEqual(['put f kept one']);
  });

  test('an append leaves its former length, and keeps nothing', async () => {
    const { box, history, parse } = start();
    using _box = box;
    box.file('f', 'one');
    const before = fs.statSync(box.host('f'), { bigint: true });
    await writeFile(box.root, parse('f'), Buffer.from(' two'), { mode: 'append' }, context());
    await writeFile(box.root, parse('f'), Buffer.alloc(0), { mode: 'append' }, context());
    await writeFile(box.root, parse('g'), Buffer.from('new'), { mode: 'append' }, context());
    expect(steps(box, history)).toEqual(['append f', 'put g']);
    const appended = [...pastSteps(history)].at(-1);
    expect(appended?.step).toMatchObject({ before: { size: 3 }, mtimeNs: String(before.mtimeNs) });
    expect(appended?.done?.after).toMatchObject({ size: 7, ino: Number(before.ino) });
  });

  test('what is removed is moved to what is kept', async () => {
    const { box, history, parse } = start();
    using _box = box;
    box.file('f', 'file');
    box.link('f', 'l');
    box.file('d/sub/g', 'inner');
    box.folder('d/empty');
    box.folder('e');
    await removeFile(box.root, parse('l'), {}, context());
    await removeEntry(box.root, parse('f'), {}, context());
    expect(await removeFolder(box.root, parse('d'), {}, context())).toEqual({ entries: 4 });
    expect(await removeFolder(box.root, parse('e'), { recursive: false }, context())).toEqual({ entries: 1 });
    expect(steps(box, history)).toEqual([
      'remove l kept -> f',
      'remove f kept file',
      'remove d kept [empty,sub]',
      'remove e kept []',
    ]);
    expect(box.tree().filter((name) => !name.startsWith('.ringfence'))).toEqual([]);
  });

  test('a folder that must be empty and is not stays', async () => {
    const { box, history, parse } = start();
    using _box = box;
    box.file('d/f');
    expect(await outcome(removeFolder(box.root, parse('d'), { recursive: false }, context()))).toBe('not_empty');
    expect(box.text('d/f')).toBe('d/f');
    expect(steps(box, history)).toEqual(['remove d kept nothing cancelled']);
  });

  test('a new folder is one step, with its parents', async () => {
    const { box, history, parse } = start();
    using _box = box;
    await makeFolder(box.root, parse('a/b'), {}, context());
    await makeFolder(box.root, parse('a/b'), {}, context());
    expect(steps(box, history)).toEqual(['make a', 'make a/b']);
  });

  test('folders that are removed again because the write failed did not happen', async () => {
    const { box, history, parse } = start();
    using _box = box;
    const name = 'x'.repeat(300);
    expect(await outcome(writeFile(box.root, parse(`a/b/${name}`), Buffer.from('x'), {}, context()))).toBe(
      'name_too_long',
    );
    expect(box.exists('a')).toBe(false);
    expect(steps(box, history)).toEqual(['make a cancelled', 'make a/b cancelled']);
  });

  test('a move keeps what it replaces', async () => {
    const { box, history, at } = start();
    using _box = box;
    box.file('f', 'moved');
    box.file('g', 'replaced');
    box.file('d/x', 'x');
    box.folder('e');
    await move(at('f'), at('g'), {}, context());
    await move(at('d'), at('n/d2'), {}, context());
    await move(at('n/d2'), at('e'), { intoFolders: false }, context());
    expect(steps(box, history)).toEqual(['move f -> g kept replaced', 'make n', 'move d -> n/d2', 'move n/d2 -> e']);
    const last = [...pastSteps(history)][0];
    expect(last?.step.replaced?.type).toBe('directory');
    expect(box.text('e/x')).toBe('x');
  });

  test('a move between roots is kept in both', async () => {
    const { box, history, at } = start();
    using _box = box;
    box.folder('other');
    const other = box.open('other', backend, 'other');
    const otherHistory = History.open(other);
    box.file('f', 'file');
    box.file('d/g', 'inner');
    box.file('other/f', 'old');
    await move(at('f'), box.at('f', other), {}, context());
    await move(at('d'), box.at('d', other), {}, context());
    expect(steps(box, history)).toEqual(['remove f kept file', 'remove d kept [g]']);
    const inOther = [...pastSteps(otherHistory)].reverse().map(({ step: { kind, path } }) => `${kind} ${path}`);
    expect(inOther).toEqual(['put f', 'put d']);
    expect(box.text('other/d/g')).toBe('inner');
    expect(fs.readdirSync(box.host('other/.ringfence/kept/00000001'))).toHaveLength(1);
  });

  test('a copy of a folder is one step, and a merge one for each file', async () => {
    const { box, history, at } = start();
    using _box = box;
    box.file('d/f', 'f');
    box.file('d/sub/g', 'g');
    box.link('f', 'd/l');
    await copy(at('d'), at('e'), {}, context());
    expect(steps(box, history)).toEqual(['put e']);
    box.file('m/f', 'old');
    await copy(at('d'), at('m'), { intoFolders: false }, context());
    const merged = steps(box, history).slice(1).sort();
    expect(merged).toEqual(['make m/sub', 'put m/f kept old', 'put m/l', 'put m/sub/g']);
    expect(new Set([...pastSteps(history)].map(({ step }) => step.change)).size).toBe(2);
  });

  test('a file that is larger than the limit is replaced unkept, or stays', async () => {
    const { box, history, parse } = start({ maxBytes: 10 });
    using _box = box;
    box.file('f', 'x'.repeat(11));
    await writeFile(box.root, parse('f'), Buffer.from('new'), {}, context());
    expect([...pastSteps(history)][0]?.step).toMatchObject({ kind: 'put', unkept: 'too_large' });
    const strict = start({ maxBytes: 10, over: 'refuse' });
    using _strict = strict.box;
    strict.box.file('f', 'x'.repeat(11));
    const write = writeFile(strict.box.root, strict.parse('f'), Buffer.from('new'), {}, context());
    expect(await outcome(write)).toBe('too_large_to_keep');
    expect(await outcome(removeFile(strict.box.root, strict.parse('f'), {}, context()))).toBe('too_large_to_keep');
    expect(strict.box.text('f')).toBe('x'.repeat(11));
    expect(strict.box.tree('.').filter((name) => name.includes('tmp'))).toEqual([]);
  });
});
