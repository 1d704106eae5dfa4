import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const CODE = 'func one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 2\n}\n';

inWorkspace({}, (w) => {
  test('a text is replaced, and the result shows where and what', async () => {
    w.file('code.go', CODE);
    expect(await w.ok('edit_file', { path: 'code.go', old_text: 'return 2', new_text: 'return 20' })).toEqual({
      path: 'code.go',
      replacements: 1,
      lines: [6],
      diff: '--- a/code.go\n+++ b/code.go\n@@ -3,5 +3,5 @@\n }\n \n func two() {\n-\treturn 2\n+\treturn 20\n }\n',
      version: VERSION,
      dry_run: false,
    });
    expect(w.text('code.go')).toBe(CODE.replace('return 2', 'return 20'));
    expect(w.tree()).toEqual(['code.go']);
  });

  test('several edits are made in order, all or none', async () => {
    w.file('code.go', CODE);
    const edits = [
      { old_text: 'func', new_text: 'fn', replace_all: true },
      { old_text: 'fn two', new_text: 'fn three' },
    ];
    expect(await w.ok('edit_file', { path: 'code.go', edits })).toMatchObject({ replacements: 3, lines: [1, 5, 5] });
    expect(w.text('code.go')).toBe(CODE.replaceAll('func', 'fn').replace('fn two', 'fn three'));

    w.file('code.go', CODE);
    const text = await w.fails('edit_file', {
      path: 'code.go',
      edits: [...edits, { old_text: 'func two', new_text: 'x' }],
    });
    expect(text).toMatch(/^old_text of edits\.2 not found, file unchanged: code\.go; .* \(root: workspace\)$/);
    expect(w.text('code.go')).toBe(CODE);
  });

  test('dry_run shows the change and does not make it', async () => {
    const host = w.file('code.go', CODE);
    const { mtimeMs, ino } = fs.statSync(host);
    const args = { path: 'code.go', old_text: 'return 2', new_text: 'return 20' };
    const dry = await w.ok('edit_file', { ...args, dry_run: true });
    expect(fs.statSync(host)).toMatchObject({ mtimeMs, ino });
    expect(w.text('code.go')).toBe(CODE);
    expect(await w.ok('edit_file', args)).toEqual({ ...dry, version: VERSION, dry_run: false });
  });

  test.each([
    ['CRLF', 'a\r\nb\r\nc\r\n', 'a\nb', 'a\nx\ny', 'a\r\nx\r\ny\r\nc\r\n'],
    ['LF by a text in CRLF', 'a\nb\nc\n', 'a\r\nb', 'a\r\nx\r\ny', 'a\nx\ny\nc\n'],
    ['a byte order mark', '\ufeffa\nb\n', 'a\n', 'x\na\n', '\ufeffx\na\nb\n'],
    ['no newline at the end', 'a\nb', 'b', 'c\nd', 'a\nc\nd'],
  ])('%s stays', async (_, before, old_text, new_text, after) => {
    w.file('f', before);
    await w.ok('edit_file', { path: 'f', old_text, new_text });
    expect(w.text('f')).toBe(after);
  });

  test('a text that is not found: the nearest passage, its lines, and what differs', async () => {
    w.file('code.go', CODE);
    expect(
      await w.fails('edit_file', { path: 'code.go', old_text: 'func two() {\n    return 2\n}', new_text: 'x' }),
    ).toBe(
      'old_text not found, file unchanged: code.go; nearest passage, lines 5-7: "func two() {\\n\\treturn 2\\n}"; ' +
        'it differs in indentation (line 6: 1 tab in the file, 4 spaces in old_text) (root: workspace)',
    );
    expect(w.text('code.go')).toBe(CODE);
  });

  test('a text that is found several times: the lines, and what to do', async () => {
    w.file('code.go', CODE);
    expect(await w.fails('edit_file', { path: 'code.go', old_text: 'return', new_text: 'x' })).toBe(
      'old_text occurs 2 times (at lines 2, 6), file unchanged: code.go; add lines around it to make it unique, or set replace_all (root: workspace)',
    );
    expect(w.text('code.go')).toBe(CODE);
  });

  test.each<[name: string, args: object, message: string]>([
    ['no text', {}, 'missing parameter: old_text'],
    ['no new text', { old_text: 'a' }, 'missing parameter: new_text'],
    ['both forms', { old_text: 'a', new_text: 'b', edits: [{ old_text: 'a', new_text: 'b' }] }, 'not both'],
    ['an empty list', { edits: [] }, 'edits is empty'],
    ['an empty text', { old_text: '', new_text: 'b' }, 'old_text is empty; to insert, give a line next to the place'],
    ['an empty text in a list', { edits: [{ old_text: '', new_text: 'b' }] }, 'edits.0.old_text is empty'],
    ['the same text twice', { old_text: 'a', new_text: 'a' }, 'old_text and new_text are the same'],
    ['other line endings', { old_text: 'a\n', new_text: 'a\r\n' }, 'differ only in line endings'],
  ])('%s is refused', async (_, args, message) => {
    w.file('f', 'a\n');
    const text = await w.fails('edit_file', { path: 'f', ...args });
    expect(text).toContain(message);
    expect(text).toMatch(/f \(root: workspace\)$/);
    expect(w.text('f')).toBe('a\n');
  });

  test('a missing file, a folder and another encoding are refused', async () => {
    w.folder('folder');
    w.file('latin1', Buffer.from('caf\u00e9 a\n', 'latin1'));
    const edit = { old_text: 'a', new_text: 'b' };
    expect(await w.fails('edit_file', { path: 'none', ...edit })).toContain('file not found: none');
    expect(await w.fails('edit_file', { path: 'folder', ...edit })).toContain('path is a directory: folder');
    expect(await w.fails('edit_file', { path: 'latin1', old_text: 'caf\u00e9', new_text: 'x' })).toBe(
      'file is not UTF-8 text: latin1 (root: workspace)',
    );
    await w.ok('edit_file', { path: 'latin1', old_text: ' a', new_text: ' b' });
    expect(w.bytes('latin1')).toEqual(Buffer.from('caf\u00e9 b\n', 'latin1'));
  });

  test('a large file is edited beside other calls, and a miss in it is explained', async () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => `line ${index} ${'padding '.repeat(5)}`);
    w.file('large', lines.join('\n'));
    const old_text = `${lines[20_000]}\n${lines[20_001]}`;
    const edits = [{ old_text, new_text: 'changed' }];
    expect(await w.ok('edit_file', { path: 'large', edits })).toMatchObject({ replacements: 1, lines: [20_001] });
    const text = await w.fails('edit_file', {
      path: 'large',
      old_text: 'line 24000 padding padding paddign',
      new_text: 'x',
    });
    expect(text).toContain('; nearest passage, line 24000: "line 24000 padding ');
    expect(text.length).toBeLessThan(2_000);
  });
});

inWorkspace({ roots: { workspace: ['read_file', 'write_file', 'patch_file'] } }, (w) => {
  test('a root that does not list edit_file does not allow it', async () => {
    w.file('f', 'a\n');
    expect(await w.fails('edit_file', { path: 'f', old_text: 'a', new_text: 'b' })).toContain(
      'tool edit_file not allowed on root workspace',
    );
    expect(w.text('f')).toBe('a\n');
  });
});
