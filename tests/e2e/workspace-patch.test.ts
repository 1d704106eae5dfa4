import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const HEADER = '--- a/code.go\n+++ b/code.go\n';

inWorkspace({}, (w) => {
  test('E2E-022 FR-008: a diff is applied, hunk by hunk', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    w.file('code.go', `${lines.join('\n')}\n`);
    const patch = `${HEADER}@@ -2,3 +2,4 @@ func f() {\n line 2\n-line 3\n+LINE 3\n+more\n line 4\n@@ -28,3 +29,2 @@\n line 28\n-line 29\n line 30\n`;
    expect(await w.ok('patch_file', { path: 'code.go', patch })).toEqual({
      path: 'code.go',
      hunks_applied: 2,
      version: VERSION,
      hunks: [{ line: 2 }, { line: 29 }],
      diff: `${HEADER}@@ -1,6 +1,7 @@\n line 1\n line 2\n-line 3\n+LINE 3\n+more\n line 4\n line 5\n line 6\n@@ -26,5 +27,4 @@\n line 26\n line 27\n line 28\n-line 29\n line 30\n`,
    });
    const expected = [...lines.slice(0, 2), 'LINE 3', 'more', ...lines.slice(3, 28), 'line 30', ''].join('\n');
    expect((await w.ok('read_file', { path: 'code.go' })).content).toBe(expected);
    expect(w.tree()).toEqual(['code.go']);
  });

  test('E2E-023 FR-008 NFR-015: a hunk that does not match leaves the file as it was', async () => {
    w.file('code.go', 'line A\nline B\nline C\n');
    const text = await w.fails('patch_file', {
      path: 'code.go',
      patch: `${HEADER}@@ -1,3 +1,3 @@\n line A\n-line X\n+line Y\n line C\n`,
    });
    expect(text).toMatch(/^patch failed: hunk 1 .*line \d+.*; file unchanged: code\.go \(root: workspace\)$/);
    expect((await w.ok('read_file', { path: 'code.go' })).content).toBe('line A\nline B\nline C\n');
  });

  test('FR-008 NFR-015: a second hunk that fails takes the first back, and is named', async () => {
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}\n`).join('');
    w.file('code.go', lines);
    const text = await w.fails('patch_file', {
      path: 'code.go',
      patch: `${HEADER}@@ -1 +1 @@\n-line 1\n+LINE 1\n@@ -42 +42 @@\n-line X\n+line Y\n`,
    });
    expect(text).toContain('patch failed: hunk 2 does not match at line 42');
    expect(w.text('code.go')).toBe(lines);
    expect(w.tree()).toEqual(['code.go']);
  });

  test.each(['new_file.txt', 'deep/er/new_file.txt'])('E2E-024 FR-008: a diff creates %s', async (path) => {
    const patch = `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,2 @@\n+first\n+second\n`;
    expect(await w.ok('patch_file', { path, patch })).toEqual({
      path,
      hunks_applied: 1,
      version: VERSION,
      hunks: [{ line: 1 }],
      diff: `--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,2 @@\n+first\n+second\n`,
    });
    expect((await w.ok('read_file', { path })).content).toBe('first\nsecond\n');
  });

  test('a failed creation makes no folders', async () => {
    await w.fails('patch_file', { path: 'a/b/c.txt', patch: `${HEADER}@@ -1 +1 @@\n-not there\n+x\n` });
    expect(w.tree()).toEqual([]);
  });

  test.each([
    ['an offset', 'x\ny\na\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', 'x\ny\na\nB\n'],
    ['wrong counts', 'a\nb\n', '@@ -1,9 +1,7 @@\n a\n-b\n+B\n', 'a\nB\n'],
    ['an LF patch for a CRLF file', 'a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', 'a\r\nB\r\n'],
    [
      'no newline at the end',
      'a\nb',
      '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n',
      'a\nB',
    ],
    ['a byte order mark', '\ufeffa\nb\n', '@@ -2 +2 @@\n-b\n+B\n', '\ufeffa\nB\n'],
    ['emptying a file', 'a\n', '@@ -1 +0,0 @@\n-a\n', ''],
    ['an insertion at the top', 'a\n', '@@ -0,0 +1 @@\n+new\n', 'new\na\n'],
    ['an insertion after a line', 'a\nb\n', '@@ -1,0 +2 @@\n+new\n', 'a\nnew\nb\n'],
  ])('%s', async (_, before, hunk, after) => {
    w.file('code.go', before);
    const args = { path: 'code.go', patch: HEADER + hunk };
    await w.ok('patch_file', args);
    expect(w.text('code.go')).toBe(after);
  });

  test.each([
    ['nothing', ''],
    ['no hunk', HEADER],
    ['prose', 'please change line 3'],
    ['two files', `${HEADER}@@ -1 +1 @@\n-a\n+A\n--- a/other\n+++ b/other\n@@ -1 +1 @@\n-a\n+A\n`],
    ['hunks out of order', `${HEADER}@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n`],
    ['fuzz', `${HEADER}@@ -1,3 +1,3 @@\n zzz\n-b\n+B\n c\n`],
    ['a broken header', `${HEADER}@@ what @@\n-a\n+A\n`],
    ['a creation', '--- /dev/null\n+++ b/code.go\n@@ -0,0 +1 @@\n+new\n'],
    ['a deletion', '--- a/code.go\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n'],
  ])('a patch with %s is refused', async (_, patch) => {
    w.file('code.go', 'a\nb\nc\n');
    expect(await w.fails('patch_file', { path: 'code.go', patch })).toMatch(
      /^patch failed: .*hunk \d.* line \d.*; file unchanged: code\.go \(root: workspace\)$/,
    );
    expect(w.text('code.go')).toBe('a\nb\nc\n');
  });

  test('a file that is not UTF-8 keeps its other bytes', async () => {
    const latin1 = Buffer.from('caf\u00e9\nb\n', 'latin1');
    w.file('latin1.txt', latin1);
    await w.ok('patch_file', { path: 'latin1.txt', patch: `${HEADER}@@ -2 +2 @@\n-b\n+B\n` });
    expect(w.bytes('latin1.txt')).toEqual(Buffer.from('caf\u00e9\nB\n', 'latin1'));
  });

  test('a hunk that fits in several places is refused with their lines', async () => {
    const section = (name: string) => `${name}:\n  port: 80\n  host: h\n`;
    const before = ['one', 'two', 'three'].map(section).join('');
    w.file('code.go', before);
    const patch = `${HEADER}@@ -4,2 +4,2 @@\n-  port: 80\n+  port: 81\n   host: h\n`;
    expect(await w.fails('patch_file', { path: 'code.go', patch })).toBe(
      'patch failed: hunk 1 does not match at line 4, but fits at lines 2, 5, 8: correct its line number or add context; file unchanged: code.go (root: workspace)',
    );
    expect(w.text('code.go')).toBe(before);
  });

  test('a bare @@, a fence and prose, as models write them', async () => {
    w.file('code.go', 'a\nb\nc\n');
    const patch = '```diff\n@@\n a\n-b\n+B\n```\nThis makes b a capital.\n';
    expect(await w.ok('patch_file', { path: 'code.go', patch })).toMatchObject({ hunks: [{ line: 1 }] });
    expect(w.text('code.go')).toBe('a\nB\nc\n');
  });

  test('an insertion is not made twice by a repeated call', async () => {
    w.file('code.go', 'a\nb\n');
    const args = { path: 'code.go', patch: `${HEADER}@@ -1,2 +1,3 @@\n+new\n a\n b\n` };
    await w.ok('patch_file', args);
    expect(await w.fails('patch_file', args)).toMatch(/^patch failed: hunk 1 does not match at line /);
    expect(w.text('code.go')).toBe('new\na\nb\n');
  });

  test('dry_run shows the change and does not make it', async () => {
    const host = w.file('code.go', 'a\nb\n');
    const { mtimeMs, ino } = fs.statSync(host);
    const hunk = '@@ -1,2 +1,2 @@\n a\n-b\n+B\n';
    expect(await w.ok('patch_file', { path: 'code.go', patch: hunk, dry_run: true })).toEqual({
      path: 'code.go',
      hunks_applied: 1,
      hunks: [{ line: 1 }],
      diff: HEADER + hunk,
      version: VERSION,
      dry_run: true,
    });
    expect(fs.statSync(host)).toMatchObject({ mtimeMs, ino });
    const creation = '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n';
    await w.ok('patch_file', { path: 'd/new', patch: creation, dry_run: true });
    expect(w.tree()).toEqual(['code.go']);
    await w.fails('patch_file', { path: 'code.go', patch: '@@ -1 +1 @@\n-x\n+y\n', dry_run: true });
  });

  test('a folder cannot be patched', async () => {
    w.folder('folder');
    expect(await w.fails('patch_file', { path: 'folder', patch: `${HEADER}@@ -0,0 +1 @@\n+x\n` })).toContain(
      'path is a directory: folder',
    );
  });
});
