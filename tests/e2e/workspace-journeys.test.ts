import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const ALL_TOOLS = [
  ...['list_folder', 'read_file', 'read_files', 'write_file', 'remove_file', 'patch_file', 'create_folder'],
  ...['remove_folder'],
  ...['stat_file', 'hash_file', 'permissions_file', 'copy', 'move', 'grep', 'glob', 'edit_file'],
];

inWorkspace({ connections: CONNECTIONS, roots: { workspace: ['*'], source: ['*'], dest: ['*'] } }, (w) => {
  test('E2E-001 FR-005 FR-008 FR-012: read a file, patch it, read it again, hash it', async () => {
    w.file('hello.txt', 'Hello World\n');
    const before = await w.call('read_file', { root: 'workspace', path: 'hello.txt' });
    expect(before.structured).toEqual({
      content: 'Hello World\n',
      encoding: 'utf-8',
      size: 12,
      truncated: false,
      version: VERSION,
    });
    expect(before.text).toContain('Hello World');

    const patch = '--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1 @@\n-Hello World\n+Hello Agent\n';
    expect(await w.ok('patch_file', { path: 'hello.txt', patch })).toEqual({
      path: 'hello.txt',
      hunks_applied: 1,
      hunks: [{ line: 1 }],
      diff: expect.stringContaining('\n@@ -'),
      version: VERSION,
    });

    expect(await w.ok('read_file', { path: 'hello.txt' })).toMatchObject({ content: 'Hello Agent\n', size: 12 });
    expect(await w.ok('hash_file', { path: 'hello.txt', algorithm: 'sha256' })).toEqual({
      path: 'hello.txt',
      algorithm: 'sha256',
      hash: createHash('sha256').update('Hello Agent\n').digest('hex'),
      size: 12,
    });
    expect(w.tree()).toEqual(['hello.txt']);
  });

  test('E2E-001: a file without a newline at its end can be patched to have one', async () => {
    w.file('hello.txt', 'Hello World');
    const patch =
      '--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1 @@\n-Hello World\n\\ No newline at end of file\n+Hello Agent\n';
    expect(await w.ok('patch_file', { path: 'hello.txt', patch })).toEqual({
      path: 'hello.txt',
      hunks_applied: 1,
      hunks: [{ line: 1 }],
      diff: expect.stringContaining('\n@@ -'),
      version: VERSION,
    });
    expect(w.text('hello.txt')).toBe('Hello Agent\n');
  });

  test('E2E-002 FR-003 FR-006 FR-014: discover the roots, write into one, copy to the other', async () => {
    const { roots } = await w.ok('list_roots');
    expect(roots).toEqual([
      { name: 'workspace', allowed_tools: ALL_TOOLS },
      { name: 'source', allowed_tools: ALL_TOOLS },
      { name: 'dest', allowed_tools: ALL_TOOLS },
    ]);
    expect(await w.ok('write_file', { root: 'source', path: 'data.txt', content: 'important data' })).toEqual({
      path: 'data.txt',
      size: 14,
      mode: 'overwrite',
      version: VERSION,
    });
    const ends = { source_root: 'source', source_path: 'data.txt', dest_root: 'dest', dest_path: 'data.txt' };
    expect(await w.ok('copy', ends)).toEqual({
      source: 'data.txt',
      destination: 'data.txt',
      is_directory: false,
      size: 14,
    });
    expect((await w.ok('read_file', { root: 'dest', path: 'data.txt' })).content).toBe('important data');
    expect(w.text('data.txt', 'source')).toBe('important data');
  });

  test('E2E-003 FR-016 FR-017: search for TODOs, patch one away, search again', async () => {
    w.file('main.go', 'package main\n\n// TODO: greet\nfunc main() {}\n');
    w.file('pkg/util.go', 'package pkg\n// TODO: name it\nfunc f() {}\n');
    w.file('notes.txt', 'TODO: not code\n');
    const search = { pattern: 'TODO', glob_filter: '*.go', context_lines: 1 };
    const first = await w.ok('grep', search);
    expect(first).toEqual({
      matches: [
        {
          file: 'main.go',
          line_number: 3,
          line_content: '// TODO: greet',
          context_before: [''],
          context_after: ['func main() {}'],
        },
        {
          file: 'pkg/util.go',
          line_number: 2,
          line_content: '// TODO: name it',
          context_before: ['package pkg'],
          context_after: ['func f() {}'],
        },
      ],
      total_matches: 2,
      truncated: false,
      timed_out: false,
      files_searched: 2,
    });
    const { matches } = await w.ok('glob', { pattern: '**/*.go' });
    expect(matches.map(({ path }: { path: string }) => path)).toEqual(['main.go', 'pkg/util.go']);

    const patch =
      '--- a/pkg/util.go\n+++ b/pkg/util.go\n@@ -1,3 +1,2 @@\n package pkg\n-// TODO: name it\n func f() {}\n';
    expect(await w.ok('patch_file', { path: 'pkg/util.go', patch })).toEqual({
      path: 'pkg/util.go',
      hunks_applied: 1,
      hunks: [{ line: 1 }],
      diff: expect.stringContaining('\n@@ -'),
      version: VERSION,
    });
    const second = await w.ok('grep', search);
    expect(second.total_matches).toBe(1);
    expect(second.matches[0].file).toBe('main.go');
  });
});
