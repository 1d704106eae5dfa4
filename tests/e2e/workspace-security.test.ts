import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace } from '../support/workspace.ts';

const OUTSIDE = 'path resolves outside root boundary';
const PATCH = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-secret\n+changed\n';

/** Every way for a tool to touch one path. */
const USES: readonly (readonly [string, (path: string) => Record<string, unknown>])[] = [
  ['list_folder', (path) => ({ path })],
  ['read_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, content: 'changed' })],
  ['write_file', (path) => ({ path, content: 'changed', mode: 'append' })],
  ['write_file', (path) => ({ path, content: 'changed', mode: 'create_only' })],
  ['remove_file', (path) => ({ path })],
  ['patch_file', (path) => ({ path, patch: PATCH })],
  ['edit_file', (path) => ({ path, old_text: 'secret', new_text: 'changed' })],
  ['edit_file', (path) => ({ path, old_text: 'secret', new_text: 'changed', dry_run: true })],
  ['write_file', (path) => ({ path, content: 'changed', dry_run: true })],
  ['create_folder', (path) => ({ path })],
  ['remove_folder', (path) => ({ path })],
  ['stat_file', (path) => ({ path })],
  ['hash_file', (path) => ({ path, algorithm: 'md5' })],
  ['permissions_file', (path) => ({ path })],
  ['copy', (path) => ({ source_path: path, dest_path: 'stolen' })],
  ['copy', (path) => ({ source_path: 'inside.txt', dest_path: path })],
  ['move', (path) => ({ source_path: path, dest_path: 'stolen' })],
  ['move', (path) => ({ source_path: 'inside.txt', dest_path: path })],
  ['grep', (path) => ({ path, pattern: 'secret' })],
  ['glob', (path) => ({ path, pattern: '**' })],
];

const DOTS = ['../../etc/passwd', '../outside/secret', 'a/../../outside/secret', '/../outside/secret', '..', 'x/../..'];
const LINKS = [
  'escape/secret',
  'chain/new',
  'escape/folder',
  'escape-relative/secret',
  'chain/secret',
  'escape/new/er',
];
const LITERAL = [
  '%2e%2e%2fetc%2fpasswd',
  '%2e%2e/outside/secret',
  '..%2foutside%2fsecret',
  '%252e%252e%252f',
  '..\\outside\\secret',
  '..;/outside',
  '\u2024\u2024/outside',
  '．．/outside/secret',
];

inWorkspace({ connections: CONNECTIONS, roots: { workspace: ['*'], dest: ['*'] } }, (w, { era }) => {
  /** The fence is the same in both eras, so the second gets a part of each table. */
  const some = <T>(rows: readonly T[]): readonly T[] => (era === 'legacy' ? rows : rows.slice(0, 2));

  function layOut(): void {
    w.file('secret', 'secret\n', 'outside');
    w.file('folder/deep', 'secret\n', 'outside');
    w.file('inside.txt', 'inside');
    w.link(w.host('', 'outside'), 'escape');
    w.link('../outside', 'escape-relative');
    w.link('escape', 'chain-2');
    w.link('chain-2', 'chain');
    w.link('nest/..', 'a/dotted');
    w.folder('a/nest');
  }

  function expectUntouched(): void {
    expect(treeOf(w.host('', 'outside'))).toEqual(['folder/', 'folder/deep', 'secret']);
    expect(w.text('secret', 'outside')).toBe('secret\n');
    expect(w.text('inside.txt')).toBe('inside');
    expect(w.exists('stolen')).toBe(false);
  }

  test.each(some(DOTS))('E2E-063 FR-001 NFR-006 NFR-010: no tool gets out by %s', async (path) => {
    layOut();
    for (const [tool, args] of USES) {
      expect(await w.fails(tool, args(path)), tool).toBe(`${OUTSIDE}: ${path} (root: workspace)`);
    }
    expectUntouched();
  });

  test.each(some(LINKS))('E2E-064 FR-001 NFR-006 NFR-007: no tool gets out by the link %s', async (path) => {
    layOut();
    for (const [tool, args] of USES) {
      expect(await w.fails(tool, args(path)), tool).toBe(`${OUTSIDE}: ${path} (root: workspace)`);
    }
    expectUntouched();
  });

  test('E2E-064 NFR-007: a link itself that leads outside', async () => {
    layOut();
    w.link(w.host('secret', 'outside'), 'stolen-file');
    w.link(w.host('made', 'outside'), 'dangling');
    expect(await w.fails('list_folder', { path: 'escape' })).toBe(`${OUTSIDE}: escape (root: workspace)`);
    for (const tool of ['read_file', 'stat_file', 'permissions_file']) {
      expect(await w.fails(tool, { path: 'stolen-file' })).toBe(`${OUTSIDE}: stolen-file (root: workspace)`);
    }
    for (const path of ['stolen-file', 'dangling']) {
      for (const mode of ['overwrite', 'append', 'create_only']) {
        expect(await w.fails('write_file', { path, content: 'x', mode })).toContain(OUTSIDE);
      }
      expect(await w.fails('copy', { source_path: 'inside.txt', dest_path: path })).toContain(OUTSIDE);
    }
    expectUntouched();
  });

  test('E2E-065 FR-001: links that stay inside are followed, absolute ones too', async () => {
    w.file('real.txt', 'real content');
    w.file('folder/inner.txt', 'inner');
    w.link('real.txt', 'link.txt');
    w.link('link.txt', 'link-to-link');
    w.link(w.host('real.txt'), 'absolute.txt');
    w.link('folder', 'linked');
    w.link('../real.txt', 'folder/up');
    for (const path of ['link.txt', 'link-to-link', 'absolute.txt', 'linked/up']) {
      expect((await w.ok('read_file', { path })).content).toBe('real content');
    }
    expect((await w.ok('read_file', { path: 'linked/inner.txt' })).content).toBe('inner');
    expect((await w.ok('list_folder', { path: 'linked' })).count).toBe(2);
  });

  test('FR-001: dots that stay inside are resolved', async () => {
    w.file('b', 'found');
    w.folder('a/deep');
    for (const path of ['a/../b', './b', '/b', 'a/./deep/../../b', '//b', 'a//../b', 'ghost/../b']) {
      expect((await w.ok('read_file', { path })).content).toBe('found');
    }
  });

  test('FR-001: a root whose name begins another folder does not open that one', async () => {
    fs.mkdirSync(`${w.host('')}/../workspace-evil`);
    fs.writeFileSync(`${w.host('')}/../workspace-evil/secret`, 'secret');
    w.link('../workspace-evil/secret', 'sibling');
    expect(await w.fails('read_file', { path: '../workspace-evil/secret' })).toContain(OUTSIDE);
    expect(await w.fails('read_file', { path: 'sibling' })).toContain(OUTSIDE);
    fs.rmSync(`${w.host('')}/../workspace-evil`, { recursive: true });
  });

  test('circles of links end', async () => {
    w.link('b', 'a');
    w.link('a', 'b');
    w.link('.', 'self');
    w.file('f.txt', 'hit');
    expect(await w.fails('read_file', { path: 'a' })).toBe(
      'too many symbolic links, or a circle of them: a (root: workspace)',
    );
    expect((await w.ok('grep', { pattern: 'hit' })).total_matches).toBe(1);
    expect((await w.ok('glob', { pattern: '**/f.txt' })).total_matches).toBe(1);
    expect((await w.ok('read_file', { path: 'self/self/f.txt' })).content).toBe('hit');
  });

  test('E2E-069 FR-010 NFR-009: removing a folder removes links, not what they lead to', async () => {
    layOut();
    w.file('dir/f.txt');
    w.link(w.host('', 'outside'), 'dir/escape');
    w.link(w.host('secret', 'outside'), 'dir/deep/escape-file');
    expect(await w.ok('remove_folder', { path: 'dir' })).toEqual({ path: 'dir', removed: true });
    expect(w.exists('dir')).toBe(false);
    expectUntouched();
  });

  test('NFR-009: searches and copies do not walk out through links', async () => {
    layOut();
    expect((await w.ok('grep', { pattern: 'secret' })).total_matches).toBe(0);
    const { matches } = await w.ok('glob', { pattern: '**' });
    for (const { path } of matches) expect(path).not.toMatch(/secret|deep$/);
    const { skipped } = await w.ok('copy', { source_path: '', dest_root: 'dest', dest_path: 'all' });
    expect(skipped).toEqual(['chain', 'chain-2', 'escape', 'escape-relative']);
    expect(JSON.stringify(w.tree('dest'))).not.toContain('secret');
    expectUntouched();
  });

  test.each(some(USES))('E2E-070 NFR-010: a NUL in a path is refused by %s', async (tool, args) => {
    layOut();
    const text = await w.fails(tool, args('inside.txt\0.jpg'));
    expect(text).toMatch(/^invalid path, refused for security: .*null byte/);
    expect(text).toContain('(root: workspace)');
    expectUntouched();
  });

  test.each(some(LITERAL))('E2E-071 NFR-010: %s is a name like any other', async (path) => {
    layOut();
    expect(await w.fails('read_file', { path })).toContain('not found');
    await w.ok('write_file', { path, content: 'literal' });
    expect((await w.ok('read_file', { path })).content).toBe('literal');
    expect(w.text(path)).toBe('literal');
    expectUntouched();
  });

  test('special files are refused at once and block nobody', async () => {
    execFileSync('mkfifo', [w.host('pipe')]);
    w.file('f.txt', 'hit');
    const tries = [
      ...Array.from({ length: 8 }, () => w.fails('read_file', { path: 'pipe' })),
      w.fails('read_file', { path: 'pipe', offset_lines: 1 }),
      w.fails('hash_file', { path: 'pipe', algorithm: 'md5' }),
      w.fails('copy', { source_path: 'pipe', dest_path: 'x' }),
      w.fails('write_file', { path: 'pipe', content: 'x' }),
      w.fails('write_file', { path: 'pipe', content: 'x', mode: 'append' }),
      w.fails('patch_file', { path: 'pipe', patch: PATCH }),
      w.fails('edit_file', { path: 'pipe', old_text: 'a', new_text: 'b' }),
      w.fails('write_file', { path: 'pipe', content: 'x', dry_run: true }),
    ];
    for (const text of await Promise.all(tries)) expect(text).toMatch(/^not a regular file: pipe/);
    expect((await w.ok('grep', { pattern: 'hit' })).total_matches).toBe(1);
    expect((await w.ok('read_file', { path: 'f.txt' })).content).toBe('hit');
    await w.ok('remove_file', { path: 'pipe' });
    expect(w.tree()).toEqual(['f.txt']);
  });

  test('names that are kept for temporary files are refused', async () => {
    expect(await w.fails('write_file', { path: '.ringfence-tmp-x', content: 'x' })).toContain('reserved');
    w.file('.ringfence-tmp-y');
    expect((await w.ok('list_folder', { path: '' })).count).toBe(0);
  });
});
