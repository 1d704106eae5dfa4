import fs from 'node:fs';
import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { listTree } from './list-tree.ts';

interface Given {
  readonly path?: string;
  readonly depth?: number;
  readonly maxEntries?: number;
  readonly offset?: number;
  fits?(): boolean;
}

const tree = (
  { root }: Sandbox,
  { path = '.', depth = 9, maxEntries = 100, offset = 0, fits = () => true }: Given = {},
) => listTree(root, parseCallerPath(path), { depth, maxEntries, offset, fits });

/** The paths of a tree, each with the number of children that are left out. */
async function shown(box: Sandbox, options?: Given): Promise<string[]> {
  const { entries } = await tree(box, options);
  return entries.map(({ path, omitted }) => (omitted === undefined ? path : `${path} +${omitted}`));
}

onEveryBackend((open) => {
  test('lists folders with what is in them, in path order, to a depth', async () => {
    using box = open();
    for (const file of ['b/x/deep/f', 'b/y', 'a', 'b-c', '.hidden/h', 'z']) box.file(file, '123');
    box.link('b', 'link');
    box.link('../outside', 'out');
    expect(await shown(box)).toEqual([
      ...['.hidden', '.hidden/h', 'a', 'b', 'b/x', 'b/x/deep', 'b/x/deep/f', 'b/y', 'b-c', 'link', 'out', 'z'],
    ]);
    expect(await shown(box, { depth: 2 })).not.toContain('b/x/deep');
    expect(await shown(box, { depth: 1 })).toEqual(['.hidden', 'a', 'b', 'b-c', 'link', 'out', 'z']);
    expect(await shown(box, { path: 'b', depth: 2 })).toEqual(['x', 'x/deep', 'y']);
    const { entries } = await tree(box, { path: 'link' });
    expect(entries.at(-1)).toMatchObject({ path: 'y', type: 'file', size: 3 });
  });
});

test('lists what is nearest to the top if not all fits, and counts the rest', async () => {
  using box = new Sandbox('openat2');
  for (const file of ['a/1', 'a/2', 'a/3/x', 'b/1', 'b/2/y', 'c']) box.file(file);
  expect(await shown(box, { maxEntries: 3 })).toEqual(['a +3', 'b +2', 'c']);
  expect(await shown(box, { maxEntries: 5 })).toEqual(['a +1', 'a/1', 'a/2', 'b +2', 'c']);
  expect(await shown(box, { maxEntries: 8 })).toEqual(['a', 'a/1', 'a/2', 'a/3 +1', 'b', 'b/1', 'b/2 +1', 'c']);
  expect(await shown(box, { maxEntries: 10 })).toHaveLength(10);
  expect(await tree(box, { maxEntries: 10 })).toMatchObject({ count: 10, more: false });
  expect(await tree(box, { maxEntries: 2 })).toMatchObject({ count: 8, more: true });
  expect(await tree(box, { maxEntries: 5 })).toMatchObject({ count: 8, more: true });
  let left = 4;
  const fits = () => left-- > 0;
  expect(await shown(box, { fits })).toEqual(['a +2', 'a/1', 'b +2', 'c']);
});

test('goes on where an earlier listing ended', async () => {
  using box = new Sandbox('openat2');
  for (const file of ['a/1', 'a/2', 'a/3/x', 'b/1', 'b/2/y', 'c']) box.file(file);
  expect(await shown(box, { offset: 2, maxEntries: 3 })).toEqual(['a/1', 'a/2', 'c']);
  expect(await shown(box, { offset: 5, maxEntries: 3 })).toEqual(['a/3 +1', 'b/1', 'b/2 +1']);
  expect(await shown(box, { offset: 8 })).toEqual(['a/3/x', 'b/2/y']);
  expect(await tree(box, { offset: 10 })).toMatchObject({ entries: [], count: 10, more: false });
});

test('raises for the folder itself, and leaves out what cannot be opened below it', async () => {
  using box = new Sandbox('openat2');
  box.file('f');
  expect(await outcome(tree(box, { path: 'none' }))).toBe('not_found');
  expect(await outcome(tree(box, { path: 'f' }))).toBe('not_directory');
  box.file('sub/f');
  const fits = () => {
    fs.rmSync(box.host('sub'), { recursive: true, force: true });
    return true;
  };
  expect(await shown(box, { fits })).toContain('f');
});

test('stops when the call is cancelled', async () => {
  using box = new Sandbox('openat2');
  box.file('a/b');
  const signal = AbortSignal.abort();
  const listing = listTree(box.root, parseCallerPath('.'), { depth: 2, maxEntries: 9, fits: () => true }, { signal });
  expect(await outcome(listing)).toBe('cancelled');
});
