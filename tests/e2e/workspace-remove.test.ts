import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

inWorkspace({}, (w) => {
  test('E2E-019 FR-007: a removed file is gone', async () => {
    w.file('to_delete.txt');
    w.file('kept.txt');
    expect(await w.ok('remove_file', { path: 'to_delete.txt' })).toEqual({ path: 'to_delete.txt', removed: true });
    expect(await w.fails('stat_file', { path: 'to_delete.txt' })).toBe(
      'file not found: to_delete.txt (root: workspace)',
    );
    expect(w.tree()).toEqual(['kept.txt']);
  });

  test('E2E-020 FR-007 NFR-011: what is not there cannot be removed', async () => {
    expect(await w.fails('remove_file', { path: 'ghost.txt' })).toBe('file not found: ghost.txt (root: workspace)');
    expect(await w.fails('remove_file', { path: 'no/such/ghost.txt' })).toContain('file not found: no/such/ghost.txt');
  });

  test.each(['mydir', 'mydir/', 'mydir/../mydir'])('E2E-021 FR-007: %j is a folder', async (path) => {
    w.file('mydir/inner.txt');
    expect(await w.fails('remove_file', { path })).toBe(
      `path is a directory: ${path}; use remove_folder instead (root: workspace)`,
    );
    expect(w.tree()).toEqual(['mydir/', 'mydir/inner.txt']);
  });

  test('FR-007: the root is a folder too', async () => {
    for (const path of ['', '.', '/']) expect(await w.fails('remove_file', { path })).toContain('directory');
  });

  test('a link is removed itself, also a dangling one', async () => {
    w.file('real.txt', 'kept');
    w.link('real.txt', 'link.txt');
    w.link('nowhere', 'dangling');
    await w.ok('remove_file', { path: 'link.txt' });
    await w.ok('remove_file', { path: 'dangling' });
    expect(w.tree()).toEqual(['real.txt']);
  });

  test('E2E-028 FR-010: a folder goes with all in it', async () => {
    w.file('dir/a.txt');
    w.file('dir/.hidden/b.txt');
    w.file('dir/deep/er/c.txt');
    w.folder('dir/empty');
    w.file('dir2/kept.txt');
    expect(await w.ok('remove_folder', { path: 'dir' })).toEqual({ path: 'dir', removed: true });
    expect(await w.fails('stat_file', { path: 'dir' })).toBe('file not found: dir (root: workspace)');
    expect(w.tree()).toEqual(['dir2/', 'dir2/kept.txt']);
  });

  test.each(['', '.', '/', './', 'dir/..', '//', '/./'])(
    'E2E-029 FR-010: the root stays, asked as %j',
    async (path) => {
      w.file('dir/kept.txt');
      expect(await w.fails('remove_folder', { path })).toBe('cannot remove root directory (root: workspace)');
      expect(w.tree()).toEqual(['dir/', 'dir/kept.txt']);
    },
  );

  test('E2E-030 FR-010: a folder that is not there', async () => {
    expect(await w.fails('remove_folder', { path: 'nonexistent' })).toBe(
      'directory not found: nonexistent (root: workspace)',
    );
  });

  test('E2E-031 FR-010: a file is not a folder', async () => {
    w.file('not_a_dir.txt', 'kept');
    expect(await w.fails('remove_folder', { path: 'not_a_dir.txt' })).toBe(
      'path is a file, not a directory: not_a_dir.txt; use remove_file instead (root: workspace)',
    );
    expect(w.text('not_a_dir.txt')).toBe('kept');
  });

  test('FR-010: a link to a folder is not followed', async () => {
    w.file('real/kept.txt');
    w.link('real', 'link');
    await w.fails('remove_folder', { path: 'link' });
    expect(w.tree()).toEqual(['link -> real', 'real/', 'real/kept.txt']);
  });
});
