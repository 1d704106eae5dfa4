import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

inWorkspace({}, (w) => {
  test('E2E-004 FR-004 NFR-013: entries come sorted, each with name, type, size and time', async () => {
    w.file('b.txt', 'bb');
    w.file('a.txt', 'a');
    const sub = w.folder('sub');
    w.file('sub/inner.txt', 'not a direct child');
    const { entries, count } = await w.ok('list_folder', { path: '.' });
    expect(count).toBe(3);
    expect(entries).toEqual([
      { name: 'a.txt', type: 'file', size: 1, modified_at: expect.stringMatching(ISO) },
      { name: 'b.txt', type: 'file', size: 2, modified_at: expect.stringMatching(ISO) },
      { name: 'sub', type: 'directory', size: fs.statSync(sub).size, modified_at: expect.stringMatching(ISO) },
    ]);
    expect(entries[0].modified_at).toBe(fs.statSync(w.host('a.txt')).mtime.toISOString());
  });

  test.each(['', '.', '/', './', 'sub/..', '/sub/../'])('FR-004: the root itself is listed as %j', async (path) => {
    w.folder('sub');
    const { entries, count } = await w.ok('list_folder', { path });
    expect(count).toBe(1);
    expect(entries[0].name).toBe('sub');
  });

  test('E2E-005 FR-004: an empty folder has no entries', async () => {
    w.folder('empty');
    expect(await w.ok('list_folder', { path: 'empty' })).toEqual({ entries: [], count: 0 });
  });

  test('E2E-006 FR-004 NFR-011: a file is not a directory', async () => {
    w.file('data.txt');
    expect(await w.fails('list_folder', { path: 'data.txt' })).toBe(
      'path is not a directory: data.txt (root: workspace)',
    );
    expect(await w.fails('list_folder', { path: 'data.txt/deeper' })).toContain('data.txt/deeper (root: workspace)');
  });

  test('FR-004: a folder that is not there', async () => {
    expect(await w.fails('list_folder', { path: 'ghost' })).toBe('directory not found: ghost (root: workspace)');
  });

  test('FR-004: links say what they lead to, and outward ones only that they do', async () => {
    w.file('file.txt', 'content');
    w.folder('folder');
    w.file('secret', 'x', 'outside');
    w.link('file.txt', 'to-file');
    w.link('folder', 'to-folder');
    w.link(w.host('file.txt'), 'to-file-absolute');
    w.link('/etc', 'to-etc');
    w.link(w.host('secret', 'outside'), 'to-outside');
    w.link('nowhere', 'to-nothing');
    w.link('to-itself', 'to-itself');
    const { entries } = await w.ok('list_folder', { path: '' });
    const links = entries.filter((entry: { type: string }) => entry.type === 'symlink');
    expect(links.map((entry: { name: string; target_type: string }) => [entry.name, entry.target_type])).toEqual([
      ['to-etc', 'external'],
      ['to-file', 'file'],
      ['to-file-absolute', 'file'],
      ['to-folder', 'directory'],
      ['to-itself', 'missing'],
      ['to-nothing', 'missing'],
      ['to-outside', 'external'],
    ]);
    for (const entry of entries) expect('target_type' in entry).toBe(entry.type === 'symlink');
  });

  test('hidden files are listed, in the order of code points', async () => {
    for (const name of ['z', 'A', 'a', '.hidden', 'ä', '10', '9', '\u{1f600}', '\uff01']) w.file(name);
    const { entries } = await w.ok('list_folder', { path: '' });
    expect(entries.map(({ name }: { name: string }) => name)).toEqual([
      ...['.hidden', '10', '9', 'A', 'a', 'z', 'ä', '\uff01', '\u{1f600}'],
    ]);
  });

  test('special files are listed as other', async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [w.host('pipe')]);
    const { entries } = await w.ok('list_folder', { path: '' });
    expect(entries[0]).toMatchObject({ name: 'pipe', type: 'other' });
  });
});
