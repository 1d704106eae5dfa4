import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { treeOf } from '../../fence/sandbox.fixture.ts';
import { createMemoryTool, type MemoryTool } from './create-memory-tool.ts';

const LISTING = "Here're the files and directories up to 2 levels deep in";
const EXCLUDING = 'excluding hidden items and node_modules:';

let root: string;
let outside: string;
let memory: MemoryTool;

beforeEach(() => {
  root = tempDir('ringfence-memories-');
  outside = tempDir('ringfence-outside-');
  fs.writeFileSync(path.join(outside, 'secret'), 'secret');
  memory = createMemoryTool({ root });
});

afterEach(async () => {
  await memory.close();
  fs.rmSync(root, { recursive: true, force: true });
  fs.rmSync(outside, { recursive: true, force: true });
});

const put = (name: string, content: string | Buffer): void => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), content);
};
const text = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8');
const sizeOf = (name: string): string => {
  const { size } = fs.statSync(path.join(root, name));
  return size < 1024 ? `${size}B` : `${(size / 1024).toFixed(1)}K`;
};
const view = (name: string, view_range?: unknown) => memory.execute({ command: 'view', path: name, view_range });
const replace = (old_str: string, new_str: string, name = '/memories/a.txt') =>
  memory.execute({ command: 'str_replace', path: name, old_str, new_str });
const insert = (insert_line: number, insert_text: string, name = '/memories/a.txt') =>
  memory.execute({ command: 'insert', path: name, insert_line, insert_text });
const remove = (name: string) => memory.execute({ command: 'delete', path: name });
const rename = (old_path: string, new_path: string) => memory.execute({ command: 'rename', old_path, new_path });

it('counts the empty line after a final line break, with and without a range', async () => {
  put('a.txt', 'one\ntwo\n');
  expect(await view('/memories/a.txt', [3, 3])).toBe(
    "Here's the content of /memories/a.txt with line numbers:\n     3\t",
  );
  expect(await view('/memories/a.txt', [2, -1])).toMatch(/ {5}2\ttwo\n {5}3\t$/);
  expect(await view('/memories/a.txt', [4, 4])).toContain('[1, 3]');
  put('empty.txt', '');
  expect(await view('/memories/empty.txt', [2, 2])).toContain('[1, 1]');
});

describe('view of a folder', () => {
  it('lists two levels with sizes and tabs, without hidden items and node_modules', async () => {
    put('customer_service_guidelines.xml', 'x'.repeat(1536));
    put('refund_policies.xml', 'x'.repeat(2048));
    put('empty', '');
    put('small', 'x'.repeat(36));
    put('large', Buffer.alloc(1_258_291));
    put('.hidden', 'x');
    put('node_modules/x', 'x');
    put('team/notes.md', 'notes');
    put('team/.hidden', 'x');
    put('team/node_modules/x', 'x');
    put('team/deep/er.md', 'x');
    expect(await view('/memories')).toBe(
      [
        `${LISTING} /memories, ${EXCLUDING}`,
        `${sizeOf('.')}\t/memories`,
        '1.5K\t/memories/customer_service_guidelines.xml',
        '0B\t/memories/empty',
        '1.2M\t/memories/large',
        '2.0K\t/memories/refund_policies.xml',
        '36B\t/memories/small',
        `${sizeOf('team')}\t/memories/team/`,
        `${sizeOf('team/deep')}\t/memories/team/deep/`,
        '5B\t/memories/team/notes.md',
      ].join('\n'),
    );
    expect(await view('/memories/team/deep')).toBe(
      `${LISTING} /memories/team/deep, ${EXCLUDING}\n${sizeOf('team/deep')}\t/memories/team/deep\n1B\t/memories/team/deep/er.md`,
    );
  });

  it('ignores a trailing slash and a line range', async () => {
    put('a', 'x');
    const listing = `${sizeOf('.')}\t/memories/\n1B\t/memories/a`;
    expect(await view('/memories/', [1, 10])).toBe(`${LISTING} /memories/, ${EXCLUDING}\n${listing}`);
  });

  it('shows links as their targets, unless they lead outside or nowhere', async () => {
    put('team/notes.md', 'notes');
    fs.symlinkSync('team', path.join(root, 'folder-link'));
    fs.symlinkSync('team/notes.md', path.join(root, 'link'));
    fs.symlinkSync(outside, path.join(root, 'out'));
    fs.symlinkSync('nothing', path.join(root, 'dangling'));
    const lines = (await view('/memories')).split('\n').slice(2);
    expect(lines.map((line) => line.split('\t')[1])).toEqual([
      '/memories/folder-link/',
      '/memories/folder-link/notes.md',
      '/memories/link',
      '/memories/team/',
      '/memories/team/notes.md',
    ]);
    expect(lines[2]).toBe('5B\t/memories/link');
  });
});

describe('view of a file', () => {
  const header = "Here's the content of /memories/a.txt with line numbers:";

  it('numbers lines six wide, with a tab', async () => {
    put('a.txt', Array.from({ length: 100 }, (_, i) => `Line ${i + 1}`).join('\n'));
    const lines = (await view('/memories/a.txt')).split('\n');
    expect(lines[0]).toBe(header);
    expect([lines[1], lines[10], lines[100]]).toEqual(['     1\tLine 1', '    10\tLine 10', '   100\tLine 100']);
    expect(lines).toHaveLength(101);
  });

  it('counts the empty line after a final line break, as an editor does', async () => {
    put('a.txt', 'one\r\ntwo\n');
    expect(await view('/memories/a.txt')).toBe(`${header}\n     1\tone\r\n     2\ttwo\n     3\t`);
    put('a.txt', '');
    expect(await view('/memories/a.txt')).toBe(`${header}\n     1\t`);
  });

  it.each([
    [[2, 3], '     2\ttwo\n     3\tthree'],
    [[2, -1], '     2\ttwo\n     3\tthree\n     4\t'],
    [[3, 100], '     3\tthree\n     4\t'],
    [[0, 1], '     1\tone'],
    [[3, 3], '     3\tthree'],
    [null, '     1\tone\n     2\ttwo\n     3\tthree\n     4\t'],
  ])('shows the range %j', async (range, expected) => {
    put('a.txt', 'one\ntwo\nthree\n');
    expect(await view('/memories/a.txt', range)).toBe(`${header}\n${expected}`);
  });

  it('refuses a range without a line of the file', async () => {
    put('a.txt', 'one\ntwo\nthree\n');
    for (const range of [
      [3, 2],
      [9, 10],
      [9, -1],
    ]) {
      expect(await view('/memories/a.txt', range)).toBe(
        `Error: Invalid \`view_range\` parameter: [${range.join(', ')}]. It should be within the range of lines of the file: [1, 4]`,
      );
    }
    expect(await view('/memories/a.txt', [1])).toBe('Error: view_range must be two line numbers, [first, last]');
  });

  it('shows 999,999 lines and refuses one more', async () => {
    put('a.txt', 'x\n'.repeat(999_999));
    const shown = await view('/memories/a.txt');
    expect(shown.endsWith('\n999999\tx')).toBe(true);
    put('a.txt', `${'x\n'.repeat(999_998)}x`);
    expect((await view('/memories/a.txt')).endsWith('\n999999\tx')).toBe(true);
    put('a.txt', 'x\n'.repeat(1_000_000));
    const refused = 'File /memories/a.txt exceeds maximum line limit of 999,999 lines.';
    expect(await view('/memories/a.txt')).toBe(refused);
    expect(await view('/memories/a.txt', [1, 2])).toBe(refused);
    put('a.txt', `${'x\n'.repeat(999_999)}x`);
    expect(await view('/memories/a.txt')).toBe(refused);
  });

  it('refuses more than 16 MiB, but shows parts of it', async () => {
    put('a.txt', `${`${'x'.repeat(999)}\n`.repeat(20_000)}end`);
    expect(await view('/memories/a.txt')).toBe(
      'Error: Too much to show at once of /memories/a.txt (19.1M, limit 16.0M). Use `view_range`',
    );
    expect(await view('/memories/a.txt', [20_001, -1])).toBe(`${header}\n 20001\tend`);
  });

  it('reports a missing file and one that is not text', async () => {
    put('latin', Buffer.from('caf\xe9', 'latin1'));
    expect(await view('/memories/x')).toBe('The path /memories/x does not exist. Please provide a valid path.');
    expect(await view('/memories/latin')).toBe('Error: The file /memories/latin is not UTF-8 text');
  });
});

describe('create', () => {
  it('creates a file and the folders above it, byte for byte', async () => {
    const file_text = '\ufeffMeeting notes:\r\n- Next steps\n';
    const created = await memory.execute({ command: 'create', path: '/memories/team/notes.txt', file_text });
    expect(created).toBe('File created successfully at: /memories/team/notes.txt');
    expect(text('team/notes.txt')).toBe(file_text);
  });

  it('refuses an existing path', async () => {
    put('team/a.txt', 'old');
    for (const name of ['/memories/team/a.txt', '/memories/team', '/memories', '/memories/team/a.txt/x']) {
      const answer = await memory.execute({ command: 'create', path: name, file_text: 'new' });
      expect(answer).toBe(`Error: File ${name} already exists`);
    }
    expect(treeOf(root)).toEqual(['team/', 'team/a.txt']);
    expect(text('team/a.txt')).toBe('old');
  });

  it('refuses text that UTF-8 cannot hold', async () => {
    expect(await memory.execute({ command: 'create', path: '/memories/a', file_text: '\ud800' })).toMatch(/^Error: /);
    expect(treeOf(root)).toEqual([]);
  });
});

describe('str_replace', () => {
  const edited = 'The memory file has been edited. Here is the snippet showing the change (with line numbers):';

  it('replaces and shows two lines around the change', async () => {
    put('a.txt', 'l1\nl2\nl3\nFavorite color: blue\nl5\nl6\nl7\n');
    expect(await replace('Favorite color: blue', 'Favorite color: $&')).toBe(
      `${edited}\n     2\tl2\n     3\tl3\n     4\tFavorite color: $&\n     5\tl5\n     6\tl6`,
    );
    expect(text('a.txt')).toBe('l1\nl2\nl3\nFavorite color: $&\nl5\nl6\nl7\n');
  });

  it('shows all lines of the new text', async () => {
    put('a.txt', 'l1\nl2\nl3');
    expect(await replace('l1\nl2', 'a\nb\nc\nd')).toBe(
      `${edited}\n     1\ta\n     2\tb\n     3\tc\n     4\td\n     5\tl3`,
    );
  });

  it('refuses a text that is missing', async () => {
    put('a.txt', 'abc');
    for (const old of ['xyz', 'ABC', '']) {
      expect(await replace(old, 'x')).toBe(
        `No replacement was performed, old_str \`${old}\` did not appear verbatim in /memories/a.txt.`,
      );
    }
  });

  it('refuses a text that is repeated, naming the lines', async () => {
    put('a.txt', 'TODO one\ndone\nTODO two TODO\n\nTODO');
    expect(await replace('TODO', 'x')).toBe(
      'No replacement was performed. Multiple occurrences of old_str `TODO` in lines: 1, 3, 5. Please ensure it is unique',
    );
    put('a.txt', 'aaa');
    expect(await replace('aa', 'x')).toBe(
      'No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1. Please ensure it is unique',
    );
    expect(text('a.txt')).toBe('aaa');
  });

  it('refuses what is no file', async () => {
    put('folder/x', 'x');
    for (const name of ['/memories/missing', '/memories/folder', '/memories', '/memories/folder/x/y']) {
      expect(await replace('x', 'y', name)).toBe(
        `Error: The path ${name} does not exist. Please provide a valid path.`,
      );
    }
  });
});

describe('insert', () => {
  it.each([
    ['one\ntwo\n', 0, 'new\n', 'new\none\ntwo\n'],
    ['one\ntwo\n', 1, 'new\n', 'one\nnew\ntwo\n'],
    ['one\ntwo\n', 1, 'new', 'one\nnew\ntwo\n'],
    ['one\ntwo\n', 2, 'new', 'one\ntwo\nnew\n'],
    ['one\ntwo\n', 3, 'new', 'one\ntwo\nnew\n'],
    ['one\ntwo', 2, 'new', 'one\ntwo\nnew'],
    ['one\r\ntwo\r\n', 1, 'new\r\n', 'one\r\nnew\r\ntwo\r\n'],
    ['', 0, 'new', 'new\n'],
  ])('in %j after line %i puts %j', async (content, line, added, expected) => {
    put('a.txt', content);
    expect(await insert(line, added)).toBe('The file /memories/a.txt has been edited.');
    expect(text('a.txt')).toBe(expected);
  });

  it('refuses a line that the file does not have', async () => {
    put('a.txt', 'Line 1\nLine 2');
    for (const line of [10, -1, 3, 1.5]) {
      expect(await insert(line, 'x')).toBe(
        `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, 2]`,
      );
    }
    expect(text('a.txt')).toBe('Line 1\nLine 2');
  });

  it('refuses what is no file', async () => {
    put('folder/x', 'x');
    for (const name of ['/memories/missing', '/memories/folder', '/memories']) {
      expect(await insert(0, 'x', name)).toBe(`Error: The path ${name} does not exist`);
    }
  });
});

describe('delete', () => {
  it('deletes a file, and a folder with its contents', async () => {
    put('a', 'x');
    put('folder/deep/.hidden', 'x');
    put('folder/b', 'x');
    expect(await remove('/memories/a')).toBe('Successfully deleted /memories/a');
    expect(await remove('/memories/folder')).toBe('Successfully deleted /memories/folder');
    expect(treeOf(root)).toEqual([]);
  });

  it('refuses a missing path and the memory root itself', async () => {
    put('a', 'x');
    expect(await remove('/memories/missing')).toBe('Error: The path /memories/missing does not exist');
    for (const name of ['/memories', '/memories/', '/memories/a/..']) {
      expect(await remove(name)).toBe('Error: Cannot delete the /memories directory itself');
    }
    expect(treeOf(root)).toEqual(['a']);
  });
});

describe('rename', () => {
  it('moves files and folders, and creates missing parents', async () => {
    put('draft.txt', 'x');
    put('folder/a', 'x');
    expect(await rename('/memories/draft.txt', '/memories/done/final.txt')).toBe(
      'Successfully renamed /memories/draft.txt to /memories/done/final.txt',
    );
    expect(await rename('/memories/folder', '/memories/done/folder')).toBe(
      'Successfully renamed /memories/folder to /memories/done/folder',
    );
    expect(treeOf(root)).toEqual(['done/', 'done/final.txt', 'done/folder/', 'done/folder/a']);
  });

  it('refuses a source that is missing and a destination that exists', async () => {
    put('a', 'a');
    put('b', 'b');
    put('folder/x', 'x');
    expect(await rename('/memories/missing', '/memories/new/c')).toBe(
      'Error: The path /memories/missing does not exist',
    );
    for (const name of ['/memories/b', '/memories/a', '/memories/folder', '/memories', '/memories/b/c']) {
      expect(await rename('/memories/a', name)).toBe(`Error: The destination ${name} already exists`);
    }
    expect(await rename('/memories', '/memories/x')).toBe('Error: Cannot rename the /memories directory itself');
    expect(await rename('/memories/folder', '/memories/folder/in')).toMatch(
      /^Error: Cannot move a directory into itself/,
    );
    expect(treeOf(root)).toEqual(['a', 'b', 'folder/', 'folder/x']);
  });
});

describe('the fence', () => {
  const answers = (name: string) => [
    view(name),
    memory.execute({ command: 'create', path: name, file_text: 'x' }),
    replace('s', 'x', name),
    insert(0, 'x', name),
    remove(name),
    rename(name, '/memories/stolen'),
    rename('/memories/a.txt', name),
  ];

  it.each([
    '/memoriesX',
    '/memoriesX/a',
    '/etc/passwd',
    'memories/a',
    '',
    '/',
    '/memorie',
    '/Memories/a',
    '../memories/a',
  ])('refuses %j, which is not under /memories', async (name) => {
    put('a.txt', 'a');
    for (const answer of answers(name))
      expect(await answer).toBe(`Error: Path must start with /memories, got: ${name}`);
    expect(treeOf(root)).toEqual(['a.txt']);
  });

  it.each([
    '/memories/../x',
    '/memories/..',
    '/memories/a/../../x',
    '/memories/../memories/a.txt',
    '/memories\\..\\x',
    '/memories/..\\x',
    '/memories/out',
    '/memories/out-dangling',
    '/memories/out-folder',
    '/memories/out-folder/secret',
    '/memories/out-folder/new',
  ])('refuses %j, which leads outside', async (name) => {
    put('a.txt', 'a');
    fs.symlinkSync(path.join(outside, 'secret'), path.join(root, 'out'));
    fs.symlinkSync(path.join(outside, 'nothing'), path.join(root, 'out-dangling'));
    fs.symlinkSync(outside, path.join(root, 'out-folder'));
    const before = treeOf(root);
    for (const answer of answers(name))
      expect(await answer).toBe(`Error: Path ${name} would escape /memories directory`);
    expect(treeOf(root)).toEqual(before);
    expect(treeOf(outside)).toEqual(['secret']);
  });

  it('treats percent signs and dots in names literally', async () => {
    put('a.txt', 'a');
    expect(await view('/memories/nowhere/../a.txt')).toContain('     1\ta');
    expect(await view('/memories/%2e%2e/x')).toBe(
      'The path /memories/%2e%2e/x does not exist. Please provide a valid path.',
    );
    expect(await view('/memories/a\0')).toBe('Error: Invalid path: "/memories/a\\u0000"');
  });
});

describe('execute', () => {
  it('returns an error text for input that is not a command', async () => {
    const names = 'view, create, str_replace, insert, delete, rename';
    expect(await memory.execute({ command: 'undo_edit', path: '/memories/a' })).toBe(
      `Error: Unknown command: undo_edit. Commands are: ${names}`,
    );
    for (const input of [undefined, null, 'view', {}, []]) {
      expect(await memory.execute(input)).toBe(`Error: Unknown command: none. Commands are: ${names}`);
    }
    expect(await memory.execute({ command: 'toString' })).toMatch(/^Error: Unknown command: toString/);
    expect(await memory.execute({ command: 'create', path: '/memories/a' })).toBe('Error: file_text is required');
    expect(await memory.execute({ command: 'view', path: 7 })).toBe('Error: path must be a string, got 7');
  });

  it('ignores unknown fields', async () => {
    put('a', 'x');
    expect(await memory.execute({ command: 'delete', path: '/memories/a', why: 'old' })).toBe(
      'Successfully deleted /memories/a',
    );
  });

  it('shows no host path', async () => {
    fs.symlinkSync(outside, path.join(root, 'out'));
    for (const name of ['/memories/out', '/memories/x', '/memories/../x', `/memories/${'x'.repeat(300)}`]) {
      const answer = await view(name);
      expect(answer).not.toContain(root);
      expect(answer).not.toContain(outside);
    }
  });

  it('creates its folder, requires an absolute path, and rejects calls after close', async () => {
    const other = createMemoryTool({ root: path.join(root, 'made', 'here') });
    await other.execute({ command: 'create', path: '/memories/a', file_text: 'x' });
    expect(treeOf(root)).toEqual(['made/', 'made/here/', 'made/here/a']);
    await other.close();
    await expect(other.execute({ command: 'view', path: '/memories' })).rejects.toThrow('already closed');
    expect(() => createMemoryTool({ root: 'memories' })).toThrow('absolute path');
  });
});

it('what is made is for its owner alone, and what exists keeps its mode', async () => {
  const folder = tempDir();
  fs.writeFileSync(path.join(folder, 'old.txt'), 'a');
  fs.chmodSync(path.join(folder, 'old.txt'), 0o644);
  await using memory = createMemoryTool({ root: folder });
  await memory.execute({ command: 'create', path: '/memories/deep/new.txt', file_text: 'a' });
  await memory.execute({ command: 'str_replace', path: '/memories/old.txt', old_str: 'a', new_str: 'b' });
  await memory.execute({ command: 'rename', old_path: '/memories/old.txt', new_path: '/memories/other/old.txt' });
  const mode = (name: string) => (fs.statSync(path.join(folder, name)).mode & 0o777).toString(8);
  expect(['deep', 'deep/new.txt', 'other', 'other/old.txt'].map(mode)).toEqual(['700', '600', '700', '644']);
});
