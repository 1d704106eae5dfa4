import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

inWorkspace({}, (w) => {
  test('E2E-025 FR-009: a folder is made with the missing ones above it', async () => {
    expect(await w.ok('create_folder', { path: 'a/b/c' })).toEqual({ path: 'a/b/c', created: true });
    const { entries, count } = await w.ok('list_folder', { path: 'a/b' });
    expect(count).toBe(1);
    expect(entries[0]).toMatchObject({ name: 'c', type: 'directory' });
    expect(w.tree()).toEqual(['a/', 'a/b/', 'a/b/c/']);
  });

  test('E2E-026 FR-009: a folder that is there already is fine', async () => {
    w.file('existing_dir/kept.txt');
    expect(await w.ok('create_folder', { path: 'existing_dir' })).toEqual({ path: 'existing_dir', created: true });
    expect(w.tree()).toEqual(['existing_dir/', 'existing_dir/kept.txt']);
    expect(await w.ok('create_folder', { path: '.' })).toEqual({ path: '.', created: true });
  });

  test('E2E-027 FR-009 NFR-011: a file in the way', async () => {
    w.file('conflict', 'kept');
    expect(await w.fails('create_folder', { path: 'conflict' })).toBe(
      'path exists as a file, not a directory: conflict (root: workspace)',
    );
    expect(await w.fails('create_folder', { path: 'conflict/below' })).toContain('conflict/below (root: workspace)');
    expect(w.text('conflict')).toBe('kept');
  });

  test('FR-009: links inside are followed, outward ones are not', async () => {
    w.folder('real');
    w.link('real', 'inside');
    w.link(w.host('', 'outside'), 'outward');
    w.link(w.host('made', 'outside'), 'dangling');
    await w.ok('create_folder', { path: 'inside/new' });
    for (const path of ['outward/new', 'outward', 'dangling', 'dangling/new']) {
      expect(await w.fails('create_folder', { path })).toContain('path resolves outside root boundary');
    }
    expect(fs.readdirSync(w.host('', 'outside'))).toEqual([]);
    expect(w.exists('real/new')).toBe(true);
  });
});
