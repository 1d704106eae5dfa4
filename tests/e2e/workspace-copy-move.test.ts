import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

inWorkspace({ roots: { workspace: ['*'], source: ['*'], dest: ['*'] } }, (w) => {
  test('E2E-041 FR-014: a copy in the same root', async () => {
    w.file('original.txt', 'known content');
    expect(await w.ok('copy', { source_path: 'original.txt', dest_path: 'duplicate.txt' })).toEqual({
      source: 'original.txt',
      destination: 'duplicate.txt',
      is_directory: false,
      size: 13,
    });
    const original = await w.ok('read_file', { path: 'original.txt' });
    expect(await w.ok('read_file', { path: 'duplicate.txt' })).toEqual({ ...original, version: VERSION });
    expect(original.content).toBe('known content');
    expect(w.tree()).toEqual(['duplicate.txt', 'original.txt']);
  });

  test('E2E-042 FR-014: a copy to another root, with the folders above it and its mode', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    fs.chmodSync(w.file('file.txt', bytes, 'source'), 0o640);
    const ends = { source_root: 'source', source_path: 'file.txt', dest_root: 'dest', dest_path: 'data/file.txt' };
    expect(await w.ok('copy', ends)).toMatchObject({ destination: 'data/file.txt', size: bytes.length });
    expect(w.bytes('data/file.txt', 'dest').equals(bytes)).toBe(true);
    expect(w.bytes('file.txt', 'source').equals(bytes)).toBe(true);
    expect(fs.statSync(w.host('data/file.txt', 'dest')).mode & 0o777).toBe(0o640);
  });

  test('E2E-043 FR-014: a folder is copied with all in it', async () => {
    w.file('project/a.txt', 'a');
    w.file('project/src/b.txt', 'b');
    w.file('project/src/deep/.c', 'c');
    w.folder('project/empty');
    expect(await w.ok('copy', { source_path: 'project', dest_path: 'project-backup' })).toEqual({
      source: 'project',
      destination: 'project-backup',
      is_directory: true,
    });
    const { matches } = await w.ok('glob', { pattern: 'project-backup/**/*', type_filter: 'file' });
    expect(matches.map(({ path }: { path: string }) => path)).toEqual([
      'project-backup/a.txt',
      'project-backup/src/b.txt',
      'project-backup/src/deep/.c',
    ]);
    expect(w.text('project-backup/src/deep/.c')).toBe('c');
    expect(w.exists('project-backup/empty')).toBe(true);
    expect(w.text('project/a.txt')).toBe('a');
  });

  test.each(['copy', 'move'])('E2E-044 E2E-047 FR-014 FR-015 NFR-011: %s of what is not there', async (tool) => {
    expect(await w.fails(tool, { source_path: 'missing.txt', dest_path: 'x.txt' })).toBe(
      'source file not found: missing.txt (root: workspace)',
    );
    const ends = { source_root: 'source', source_path: 'a/missing.txt', dest_root: 'dest', dest_path: 'new/x.txt' };
    expect(await w.fails(tool, ends)).toBe('source file not found: a/missing.txt (root: source)');
    expect(w.tree('dest')).toEqual([]);
  });

  test('E2E-045 FR-015: a move in the same root renames', async () => {
    const before = fs.statSync(w.file('old_name.txt', 'known content')).ino;
    expect(await w.ok('move', { source_path: 'old_name.txt', dest_path: 'new_name.txt' })).toEqual({
      source: 'old_name.txt',
      destination: 'new_name.txt',
    });
    expect(await w.fails('stat_file', { path: 'old_name.txt' })).toContain('not found');
    expect((await w.ok('read_file', { path: 'new_name.txt' })).content).toBe('known content');
    expect(fs.statSync(w.host('new_name.txt')).ino).toBe(before);
  });

  test('E2E-046 FR-015: a move to another root', async () => {
    w.file('file.txt', 'content', 'source');
    w.file('folder/inner.txt', 'inner', 'source');
    const ends = { source_root: 'source', dest_root: 'dest' };
    await w.ok('move', { ...ends, source_path: 'file.txt', dest_path: 'new/file.txt' });
    await w.ok('move', { ...ends, source_path: 'folder', dest_path: 'folder2' });
    expect(w.tree('source')).toEqual([]);
    expect(w.tree('dest')).toEqual(['folder2/', 'folder2/inner.txt', 'new/', 'new/file.txt']);
    expect(w.text('new/file.txt', 'dest')).toBe('content');
  });

  test.each(['copy', 'move'])('%s replaces a file', async (tool) => {
    w.file('from.txt', 'new');
    w.file('to.txt', 'old and longer');
    await w.ok(tool, { source_path: 'from.txt', dest_path: 'to.txt' });
    expect(w.text('to.txt')).toBe('new');
    expect(w.exists('from.txt')).toBe(tool === 'copy');
  });

  test.each(['copy', 'move'])('%s goes into a folder that is there', async (tool) => {
    w.file('from.txt', 'file');
    w.file('tree/inner.txt', 'inner');
    w.file('target/kept.txt', 'kept');
    const file = await w.ok(tool, { source_path: 'from.txt', dest_path: 'target' });
    expect(file.destination).toBe('target/from.txt');
    const tree = await w.ok(tool, { source_path: 'tree', dest_path: 'target' });
    expect(tree.destination).toBe('target/tree');
    expect(fs.readdirSync(w.host('target')).sort()).toEqual(['from.txt', 'kept.txt', 'tree']);
    expect(w.text('target/tree/inner.txt')).toBe('inner');
  });

  test.each([
    ['copy', 'a.txt', 'a.txt'],
    ['copy', 'a.txt', './sub/../a.txt'],
    ['copy', 'tree', 'tree/inside'],
    ['copy', 'tree', 'tree/deep/er/inside'],
    ['move', 'tree', 'tree/inside'],
    ['move', 'tree', 'tree/deep'],
  ])('%s of %s to %s is refused', async (tool, source_path, dest_path) => {
    w.file('a.txt', 'kept');
    w.file('tree/deep/b.txt', 'kept');
    w.folder('sub');
    const before = w.tree();
    const text = await w.fails(tool, { source_path, dest_path });
    expect(text).toMatch(/same|into itself/);
    expect(w.tree()).toEqual(before);
    expect(w.text('a.txt')).toBe('kept');
  });

  test('the root itself cannot be moved', async () => {
    w.file('kept.txt');
    expect(await w.fails('move', { source_path: '', dest_root: 'dest', dest_path: 'x' })).toContain(
      'cannot move root directory',
    );
    expect(w.tree()).toEqual(['kept.txt']);
  });

  test('FR-014 NFR-009: in a copied folder links inside it stay, others become content, outward ones are skipped', async () => {
    w.file('secret', 'top secret', 'outside');
    w.file('shared.txt', 'shared');
    w.file('tree/real.txt', 'real');
    w.link('real.txt', 'tree/inner-link');
    w.link('../shared.txt', 'tree/sibling-link');
    w.link(w.host('secret', 'outside'), 'tree/sub/outward');
    const result = await w.ok('copy', { source_path: 'tree', dest_root: 'dest', dest_path: 'tree' });
    expect(result).toEqual({ source: 'tree', destination: 'tree', is_directory: true, skipped: ['sub/outward'] });
    expect(w.tree('dest')).toEqual([
      'tree/',
      'tree/inner-link -> real.txt',
      'tree/real.txt',
      'tree/sibling-link',
      'tree/sub/',
    ]);
    expect(w.text('tree/sibling-link', 'dest')).toBe('shared');
  });

  test('move takes a link itself', async () => {
    w.file('real.txt', 'real');
    w.link('real.txt', 'link');
    await w.ok('move', { source_path: 'link', dest_path: 'renamed' });
    expect(w.tree()).toEqual(['real.txt', 'renamed -> real.txt']);
  });

  test('a folder over a file is refused', async () => {
    w.file('tree/a.txt');
    w.file('file.txt', 'kept');
    for (const tool of ['copy', 'move']) await w.fails(tool, { source_path: 'tree', dest_path: 'file.txt' });
    expect(w.text('file.txt')).toBe('kept');
    expect(w.exists('tree/a.txt')).toBe(true);
  });
});
