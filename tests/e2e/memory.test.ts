import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { BoundServer, type BoundServerOptions } from '../support/bound-server.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

type Memory = BoundServer<'memory'>;
const startMemory = (options?: BoundServerOptions) => BoundServer.start('memory', options);
const ESCAPES = { code: 'path_security', message: 'Path escapes base directory' };

/** A folder beside the base with something to steal. */
function outside(server: Memory): string {
  const folder = tempDir('ringfence-outside-');
  fs.writeFileSync(path.join(folder, 'secret'), 'secret');
  fs.symlinkSync(path.join(folder, 'secret'), path.join(server.inside, 'out'));
  fs.symlinkSync(folder, path.join(server.inside, 'out-folder'));
  fs.symlinkSync(path.join(folder, 'nothing'), path.join(server.inside, 'out-dangling'));
  return folder;
}

const bytes = (server: Memory, name: string): Buffer => fs.readFileSync(path.join(server.inside, name));
const create = (path: string, content: string, encoding = 'utf-8') => ({ path, content, encoding });

describe('acceptance criteria', () => {
  it('file-storage-backend/AC-1: the server starts and a client connects', async () => {
    await using server = await startMemory();
    expect(server.client.getServerVersion()).toMatchObject({ name: 'file-storage-backend' });
  });

  it('file-storage-backend/AC-2: six tools are available and callable', async () => {
    await using server = await startMemory();
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']);
    const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required]));
    expect(required).toEqual({
      view: ['path'],
      create: ['path', 'content', 'encoding'],
      str_replace: ['path', 'old_str', 'new_str'],
      insert: ['path', 'insert_line', 'new_str'],
      delete: ['path'],
      rename: ['old_path', 'new_path'],
    });
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
    expect(destructive).toEqual(['str_replace', 'delete', 'rename']);
    const texts = [
      (await server.call('create', create('a.md', 'x'))).text,
      (await server.call('str_replace', { path: 'a.md', old_str: 'x', new_str: 'y' })).text,
      (await server.call('insert', { path: 'a.md', insert_line: 1, new_str: 'z\n' })).text,
      (await server.call('rename', { old_path: 'a.md', new_path: 'b.md' })).text,
      (await server.call('delete', { path: 'b.md' })).text,
    ];
    expect(texts).toEqual(['Created a.md.', 'Edited a.md.', 'Edited a.md.', 'Renamed a.md to b.md.', 'Deleted b.md.']);
    const listed = await server.call('view', { path: '.' });
    expect(listed.isError).toBe(false);
    expect(listed.structured).toEqual({ type: 'directory', entries: [] });
    expect(JSON.parse(listed.text)).toEqual(listed.structured);
  });

  it('file-storage-backend/AC-3: what was created is what is viewed', async () => {
    await using server = await startMemory();
    for (const content of ['# Notes\n\nText', 'a\r\nb\r\n', '\ufeffmarked', 'no end', '\0 \u{1f600} é\n', ' \t\n\n']) {
      const name = `${Buffer.from(content).toString('hex')}.md`;
      await server.ok('create', create(name, content));
      const size = Buffer.byteLength(content);
      expect(await server.ok('view', { path: name })).toEqual({
        type: 'file',
        content,
        encoding: 'utf-8',
        size,
      });
      expect(server.text(name)).toBe(content);
    }
  });

  it('file-storage-backend/AC-4: a unique text is replaced', async () => {
    await using server = await startMemory();
    server.file('p.md', 'a\r\nBudget: $50k\r\nc');
    await server.ok('str_replace', { path: 'p.md', old_str: 'Budget: $50k', new_str: 'Budget: $& $1 $$' });
    expect(server.text('p.md')).toBe('a\r\nBudget: $& $1 $$\r\nc');
  });

  it('file-storage-backend/AC-5: files outlast the server', async () => {
    const base = tempDir('ringfence-memory-');
    {
      await using first = await startServer({ dialect: 'memory', env: { BASE_PATH: base } });
      await first.ok('create', create('kept.md', 'kept'));
    }
    await using second = await startServer({ dialect: 'memory', env: { BASE_PATH: base } });
    expect((await second.ok('view', { path: 'kept.md' })).content).toBe('kept');
    fs.rmSync(base, { recursive: true });
  });

  it('file-storage-backend/AC-6: creating what exists is file_exists', async () => {
    await using server = await startMemory();
    server.file('notes/a.md', 'old');
    fs.symlinkSync('nothing', path.join(server.inside, 'dangling'));
    for (const name of ['notes/a.md', 'notes', 'dangling', 'notes/a.md/below', '.']) {
      const error = { code: 'file_exists', message: `File already exists: ${name}`, path: name };
      expect(await server.fails('create', create(name, 'new'))).toEqual(error);
    }
    expect(server.tree()).toEqual(['dangling -> nothing', 'notes/', 'notes/a.md']);
    expect(server.text('notes/a.md')).toBe('old');
  });

  it('file-storage-backend/AC-7: what does not exist is file_not_found', async () => {
    await using server = await startMemory();
    server.file('file', 'x');
    fs.symlinkSync('nothing', path.join(server.inside, 'dangling'));
    for (const name of ['a.md', 'deep/er/a.md', 'file/below', 'dangling']) {
      const error = { code: 'file_not_found', message: `File not found: ${name}`, path: name };
      expect(await server.fails('view', { path: name })).toEqual(error);
      expect(await server.fails('str_replace', { path: name, old_str: 'x', new_str: 'y' })).toEqual(error);
      expect(await server.fails('insert', { path: name, insert_line: 1, new_str: 'y' })).toEqual(error);
      if (name === 'dangling') continue;
      expect(await server.fails('delete', { path: name })).toEqual(error);
      expect(await server.fails('rename', { old_path: name, new_path: 'new/place' })).toEqual(error);
    }
    expect(server.tree()).toEqual(['dangling -> nothing', 'file']);
  });

  it('file-storage-backend/AC-8: a missing text is string_not_found', async () => {
    await using server = await startMemory();
    server.file('a.md', 'Status: open\n');
    for (const old_str of ['status', 'open\r\n', 'Status: .*', '\ud800']) {
      const error = { code: 'string_not_found', message: 'String not found in file', path: 'a.md' };
      expect(await server.fails('str_replace', { path: 'a.md', old_str, new_str: 'x' })).toEqual(error);
    }
    expect(await server.fails('str_replace', { path: 'a.md', old_str: '', new_str: 'x' })).toEqual({
      code: 'invalid_arguments',
      message: 'old_str must not be empty',
      path: 'a.md',
    });
    expect(server.text('a.md')).toBe('Status: open\n');
  });

  it('file-storage-backend/AC-9: a repeated text is string_not_unique, overlaps counted', async () => {
    await using server = await startMemory();
    server.file('a.md', 'aaa');
    expect(await server.fails('str_replace', { path: 'a.md', old_str: 'aa', new_str: 'b' })).toEqual({
      code: 'string_not_unique',
      message: 'String appears 2 times, must be unique',
      path: 'a.md',
    });
    expect(server.text('a.md')).toBe('aaa');
  });

  it('file-storage-backend/AC-10: a line out of range is invalid_line_number', async () => {
    await using server = await startMemory();
    server.file('a.md', 'one\ntwo\n');
    server.file('open.md', 'one\ntwo');
    server.file('empty.md', '');
    const cases = [
      ['a.md', 0, 3],
      ['a.md', -1, 3],
      ['a.md', 4, 3],
      ['a.md', 1.5, 3],
      ['a.md', 1e21, 3],
      ['open.md', 4, 3],
      ['empty.md', 2, 1],
    ] as const;
    for (const [name, insert_line, max] of cases) {
      expect(await server.fails('insert', { path: name, insert_line, new_str: 'x' })).toEqual({
        code: 'invalid_line_number',
        message: `Line number ${insert_line} out of range (1-${max})`,
        path: name,
      });
    }
    expect(server.text('a.md')).toBe('one\ntwo\n');
  });

  it('file-storage-backend/AC-11: a folder with anything in it is directory_not_empty', async () => {
    await using server = await startMemory();
    server.file('temp/.keep', '');
    fs.mkdirSync(path.join(server.inside, 'outer/inner'), { recursive: true });
    for (const name of ['temp', 'temp/', 'outer']) {
      const error = { code: 'directory_not_empty', message: `Directory not empty: ${name}`, path: name };
      expect(await server.fails('delete', { path: name })).toEqual(error);
    }
    await server.ok('delete', { path: 'outer/inner/' });
    await server.ok('delete', { path: 'outer' });
    expect(server.tree()).toEqual(['temp/', 'temp/.keep']);
  });

  it('file-storage-backend/AC-12: paths that leave the base folder are path_security, for every tool', async () => {
    await using server = await startMemory();
    server.file('a.md', 'a');
    const escapes = [
      '../x',
      '../../../etc/passwd',
      'notes/../../x',
      '..',
      '/etc/passwd',
      '/',
      `${server.inside}/a.md`,
      '..\\x',
      'notes\\..\\..\\x',
      '\\etc\\passwd',
      '\\\\host\\share',
      'C:\\Windows\\x',
      'c:/x',
      'a.md\0',
    ];
    for (const name of escapes) {
      const error = { ...ESCAPES, path: name };
      expect(await server.fails('view', { path: name }), name).toEqual(error);
      expect(await server.fails('create', create(name, 'x')), name).toEqual(error);
      expect(await server.fails('str_replace', { path: name, old_str: 'a', new_str: 'b' }), name).toEqual(error);
      expect(await server.fails('insert', { path: name, insert_line: 1, new_str: 'b' }), name).toEqual(error);
      expect(await server.fails('delete', { path: name }), name).toEqual(error);
      expect(await server.fails('rename', { old_path: name, new_path: 'b.md' }), name).toEqual(error);
      expect(await server.fails('rename', { old_path: 'a.md', new_path: name }), name).toEqual(error);
    }
    for (const name of ['', '.', 'notes/..', './']) {
      const error = { ...ESCAPES, path: name };
      expect(await server.fails('delete', { path: name })).toEqual(error);
      expect(await server.fails('rename', { old_path: name, new_path: 'b' })).toEqual(error);
      expect(await server.fails('rename', { old_path: 'a.md', new_path: name })).toEqual(error);
    }
    expect(server.tree()).toEqual(['a.md']);
  });

  it('file-storage-backend/AC-12: what only looks like leaving stays usable', async () => {
    await using server = await startMemory();
    await server.ok('create', create('notes/a.md', 'x'));
    for (const name of ['notes/../notes/a.md', './notes//a.md', 'notes\\a.md', 'nowhere/../notes/a.md']) {
      expect((await server.ok('view', { path: name })).content).toBe('x');
    }
    await server.ok('create', create('%2e%2e%2fx', 'plain name'));
    await server.ok('create', create('...', 'three dots'));
    expect(server.tree()).toEqual(['%2e%2e%2fx', '...', 'notes/', 'notes/a.md']);
  });

  it('file-storage-backend/AC-13: links outward, dangling ones too, are path_security, for every tool', async () => {
    await using server = await startMemory();
    const folder = outside(server);
    server.file('a.md', 'a');
    fs.symlinkSync('out-folder', path.join(server.inside, 'twice'));
    const before = server.tree();
    for (const name of [
      'out',
      'out-dangling',
      'out-folder/secret',
      'out-folder/new',
      'twice/secret',
      'out-folder',
      'twice',
    ]) {
      const error = { ...ESCAPES, path: name };
      expect(await server.fails('view', { path: name }), name).toEqual(error);
      expect(await server.fails('create', create(name, 'x')), name).toEqual(error);
      expect(await server.fails('str_replace', { path: name, old_str: 's', new_str: 'b' }), name).toEqual(error);
      expect(await server.fails('insert', { path: name, insert_line: 1, new_str: 'b' }), name).toEqual(error);
      expect(await server.fails('delete', { path: name }), name).toEqual(error);
      expect(await server.fails('rename', { old_path: name, new_path: 'b.md' }), name).toEqual(error);
      expect(await server.fails('rename', { old_path: 'a.md', new_path: name }), name).toEqual(error);
    }
    expect(server.tree()).toEqual(before);
    expect(treeOf(folder)).toEqual(['secret']);
    fs.rmSync(folder, { recursive: true });
  });

  it('file-storage-backend/AC-13: a circle of links is path_security; links inside work', async () => {
    await using server = await startMemory();
    server.file('notes/a.md', 'a');
    fs.symlinkSync('circle', path.join(server.inside, 'circle'));
    fs.symlinkSync('notes/a.md', path.join(server.inside, 'link'));
    fs.symlinkSync(path.join(server.inside, 'notes'), path.join(server.inside, 'absolute'));
    expect(await server.fails('view', { path: 'circle' })).toEqual({ ...ESCAPES, path: 'circle' });
    await server.ok('str_replace', { path: 'link', old_str: 'a', new_str: 'b' });
    expect((await server.ok('view', { path: 'absolute/a.md' })).content).toBe('b');
    await server.ok('delete', { path: 'link' });
    expect(server.tree()).toEqual([
      `absolute -> ${path.join(server.inside, 'notes')}`,
      'circle -> circle',
      'notes/',
      'notes/a.md',
    ]);
  });

  it('file-storage-backend/AC-14: parent folders are made', async () => {
    await using server = await startMemory();
    await server.ok('create', create('deep/nested/path/file.txt', 'x'));
    expect(server.tree()).toEqual(['deep/', 'deep/nested/', 'deep/nested/path/', 'deep/nested/path/file.txt']);
  });

  it('file-storage-backend/AC-15: empty files work', async () => {
    await using server = await startMemory();
    await server.ok('create', create('empty', ''));
    await server.ok('create', create('empty64', '', 'base64'));
    const nothing = { type: 'file', content: '', encoding: 'utf-8', size: 0 };
    expect(await server.ok('view', { path: 'empty' })).toEqual(nothing);
    expect(await server.ok('view', { path: 'empty64' })).toEqual(nothing);
    await server.ok('delete', { path: 'empty' });
    expect(server.tree()).toEqual(['empty64']);
  });

  it('file-storage-backend/AC-16: binary files go in and come out as base64', async () => {
    await using server = await startMemory();
    const data = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const content = data.toString('base64');
    await server.ok('create', create('logo.png', content, 'base64'));
    expect(bytes(server, 'logo.png')).toEqual(data);
    const expected = { type: 'file', content, encoding: 'base64', size: 256 };
    expect(await server.ok('view', { path: 'logo.png' })).toEqual(expected);
  });

  it('file-storage-backend/AC-16: content that does not fit its encoding is invalid_encoding', async () => {
    await using server = await startMemory();
    const error = { code: 'invalid_encoding', message: 'Content does not match specified encoding', path: 'x' };
    for (const content of ['not base64!', 'YQ', 'YQ=', 'YQ==\n', 'Y Q==', 'YR==', 'YQ==YQ==', '_-8=', '====', 'é']) {
      expect(await server.fails('create', create('x', content, 'base64')), content).toEqual(error);
    }
    for (const content of ['\ud83d', 'a\udc00b']) {
      expect(await server.fails('create', create('x', content)), content).toEqual(error);
    }
    expect(server.tree()).toEqual([]);
    server.file('x', 'a');
    expect(await server.fails('str_replace', { path: 'x', old_str: 'a', new_str: '\ud83d' })).toEqual(error);
    expect(await server.fails('insert', { path: 'x', insert_line: 1, new_str: '\ud83d' })).toEqual(error);
    expect(server.text('x')).toBe('a');
  });

  it('file-storage-backend/AC-17: text operations on binary files are binary_file', async () => {
    await using server = await startMemory();
    const data = Buffer.from('caf\xe9\n', 'latin1');
    server.file('latin.txt', data);
    const error = { code: 'binary_file', message: 'Cannot perform text operation on binary file', path: 'latin.txt' };
    expect(await server.fails('str_replace', { path: 'latin.txt', old_str: 'caf', new_str: 'x' })).toEqual(error);
    expect(await server.fails('insert', { path: 'latin.txt', insert_line: 1, new_str: 'x' })).toEqual(error);
    expect(bytes(server, 'latin.txt')).toEqual(data);
  });

  it('file-storage-backend/AC-18: entries are sorted by code point', async () => {
    await using server = await startMemory();
    for (const name of ['b', 'B', 'a', '_', '10', '9', 'é', '\uff01', '\u{1f600}']) server.file(name, '');
    fs.mkdirSync(path.join(server.inside, 'c'));
    server.file('.hidden', '');
    const structured = await server.ok('view', { path: '' });
    expect(structured).toEqual({
      type: 'directory',
      entries: ['10', '9', 'B', '_', 'a', 'b', 'c', 'é', '\uff01', '\u{1f600}'],
    });
  });

  it('file-storage-backend/AC-19: a trailing slash makes no difference for folders', async () => {
    await using server = await startMemory();
    server.file('nodes/a.md', '');
    const expected = { type: 'directory', entries: ['a.md'] };
    for (const name of ['nodes', 'nodes/', 'nodes//', './nodes/']) {
      expect(await server.ok('view', { path: name })).toEqual(expected);
    }
    await server.ok('rename', { old_path: 'nodes/', new_path: 'moved/' });
    expect(server.tree()).toEqual(['moved/', 'moved/a.md']);
  });

  it('file-storage-backend/AC-20: rename moves between folders and makes parents', async () => {
    await using server = await startMemory();
    server.file('drafts/note.md', 'note');
    await server.ok('rename', { old_path: 'drafts/note.md', new_path: 'archive/2025/note.md' });
    expect((await server.fails('view', { path: 'drafts/note.md' })).code).toBe('file_not_found');
    expect((await server.ok('view', { path: 'archive/2025/note.md' })).content).toBe('note');
    await server.ok('rename', { old_path: 'archive', new_path: 'old/archive' });
    expect(server.tree()).toEqual(['drafts/', 'old/', 'old/archive/', 'old/archive/2025/', 'old/archive/2025/note.md']);
  });

  it('file-storage-backend/AC-20: rename never replaces, not even by itself', async () => {
    await using server = await startMemory();
    server.file('a.md', 'a');
    server.file('b.md', 'b');
    fs.mkdirSync(path.join(server.inside, 'folder'));
    fs.mkdirSync(path.join(server.inside, 'empty'));
    fs.symlinkSync('nothing', path.join(server.inside, 'dangling'));
    const cases = [
      ['a.md', 'b.md'],
      ['a.md', 'a.md'],
      ['a.md', './a.md'],
      ['a.md', 'folder'],
      ['folder', 'a.md'],
      ['folder', 'empty'],
      ['folder', 'folder'],
      ['a.md', 'dangling'],
      ['a.md', 'b.md/below'],
    ] as const;
    for (const [old_path, new_path] of cases) {
      const error = { code: 'file_exists', message: `File already exists: ${new_path}`, path: new_path };
      expect(await server.fails('rename', { old_path, new_path }), `${old_path} ${new_path}`).toEqual(error);
    }
    expect(await server.fails('rename', { old_path: 'folder', new_path: 'folder/in/itself' })).toEqual({
      code: 'invalid_arguments',
      message: 'Cannot move a directory into itself: folder/in/itself',
      path: 'folder/in/itself',
    });
    expect(server.tree()).toEqual(['a.md', 'b.md', 'dangling -> nothing', 'empty/', 'folder/']);
    expect(server.text('a.md') + server.text('b.md')).toBe('ab');
  });

  it('file-storage-backend/AC-21: the caller controls line breaks on insert', async () => {
    await using server = await startMemory();
    const cases = [
      ['one\ntwo\n', 2, 'new\n', 'one\nnew\ntwo\n'],
      ['one\ntwo\n', 2, 'new ', 'one\nnew two\n'],
      ['one\ntwo\n', 3, 'new', 'one\ntwo\nnew'],
      ['one\ntwo', 3, 'new', 'one\ntwo\nnew'],
      ['one\r\ntwo', 3, 'new\r\n', 'one\r\ntwo\r\nnew\r\n'],
      ['one\r\ntwo\r\n', 2, 'new\r\n', 'one\r\nnew\r\ntwo\r\n'],
      ['\ufeffone\n', 1, 'new\n', '\ufeffnew\none\n'],
      ['', 1, 'new', 'new'],
    ] as const;
    for (const [content, insert_line, new_str, expected] of cases) {
      server.file('a.md', content);
      await server.ok('insert', { path: 'a.md', insert_line, new_str });
      expect(server.text('a.md')).toBe(expected);
    }
  });

  it('file-storage-backend/AC-22: a failed operation leaves all as it was', async () => {
    await using server = await startMemory();
    server.file('notes/a.md', 'a a\n');
    const before = server.tree();
    const inode = fs.statSync(path.join(server.inside, 'notes/a.md')).ino;
    await server.fails('create', create('notes/a.md', 'x'));
    await server.fails('create', create('new/folder/x', '!', 'base64'));
    await server.fails('str_replace', { path: 'notes/a.md', old_str: 'a', new_str: 'x' });
    await server.fails('insert', { path: 'notes/a.md', insert_line: 9, new_str: 'x' });
    await server.fails('delete', { path: 'notes' });
    await server.fails('rename', { old_path: 'nothing', new_path: 'new/folder/x' });
    expect(server.tree()).toEqual(before);
    expect(server.text('notes/a.md')).toBe('a a\n');
    expect(fs.statSync(path.join(server.inside, 'notes/a.md')).ino).toBe(inode);
  });

  it('file-storage-backend/AC-22: of edits sent all at once none is lost silently', async () => {
    await using server = await startMemory();
    server.file('a.md', Array.from({ length: 20 }, (_, i) => `[${i}]\n`).join(''));
    const edits = Array.from({ length: 20 }, (_, i) =>
      server.call('str_replace', { path: 'a.md', old_str: `[${i}]`, new_str: `<${i}>` }),
    );
    const outcomes = await Promise.all(edits);
    // An edit that lost every race says so; none is lost silently.
    const made = outcomes.flatMap(({ isError }, i) => (isError ? [] : [i]));
    const expected = Array.from({ length: 20 }, (_, i) => (made.includes(i) ? `<${i}>\n` : `[${i}]\n`)).join('');
    expect(server.text('a.md')).toBe(expected);
    expect(made.length).toBeGreaterThan(0);
    expect(server.tree()).toEqual(['a.md']);
  });

  it('file-storage-backend/AC-23: a view after a change shows it', async () => {
    await using server = await startMemory();
    await server.ok('create', create('n', 'value 0'));
    for (let i = 0; i < 20; i += 1) {
      await server.ok('str_replace', { path: 'n', old_str: `value ${i}`, new_str: `value ${i + 1}` });
      expect((await server.ok('view', { path: 'n' })).content).toBe(`value ${i + 1}`);
    }
  });

  it('file-storage-backend/AC-24: every error has a code and a message', async () => {
    await using server = await startMemory();
    server.file('a.md', 'a');
    const failures = [
      ['view', { path: 'missing' }],
      ['view', {}],
      ['view', { path: 7 }],
      ['view', { path: 'a.md', pth: 'a.md' }],
      ['create', { path: 'b', content: 'x' }],
      ['create', { path: 'b', content: 'x', encoding: 'latin1' }],
      ['insert', { path: 'a.md', insert_line: '1', new_str: 'x' }],
      ['rename', { old_path: 'a.md' }],
      ['delete', { path: '../x' }],
    ] as const;
    const messages: unknown[] = [];
    for (const [tool, args] of failures) {
      const error = await server.fails(tool, args);
      expect(error).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/./),
        ...('path' in error && { path: expect.any(String) }),
      });
      messages.push(error.message);
    }
    expect(messages).toEqual([
      'File not found: missing',
      'path is required',
      'path must be a string, got 7',
      'unknown parameter: pth (did you mean path?)',
      'encoding is required',
      'encoding must be one of "utf-8", "base64", got "latin1"',
      'insert_line must be a number, got "1"',
      'new_path is required',
      'Path escapes base directory',
    ]);
  });
});

describe('scenarios', () => {
  it('file-storage-backend/Scenario 1: basic file creation and retrieval', async () => {
    await using server = await startMemory();
    const content = '# Team Meeting\n\nDiscuss Q1 goals';
    await server.ok('create', create('notes/meeting.md', content));
    expect(server.text('notes/meeting.md')).toBe(content);
    // The document says 36; sizes are true byte counts.
    const expected = { type: 'file', content, encoding: 'utf-8', size: Buffer.byteLength(content) };
    expect(await server.ok('view', { path: 'notes/meeting.md' })).toEqual(expected);
  });

  it('file-storage-backend/Scenario 2: text replacement', async () => {
    await using server = await startMemory();
    server.file('project.md', '# Project Alpha\nStatus: Planning\nBudget: $50k\n');
    await server.ok('str_replace', {
      path: 'project.md',
      old_str: 'Status: Planning',
      new_str: 'Status: In Progress',
    });
    expect(server.text('project.md')).toBe('# Project Alpha\nStatus: In Progress\nBudget: $50k\n');
    expect(server.tree()).toEqual(['project.md']);
  });

  it('file-storage-backend/Scenario 3: duplicate file creation fails', async () => {
    await using server = await startMemory();
    server.file('config.json', '{"version": 1}');
    expect(await server.fails('create', create('config.json', '{}'))).toEqual({
      code: 'file_exists',
      message: 'File already exists: config.json',
      path: 'config.json',
    });
    expect(server.text('config.json')).toBe('{"version": 1}');
    expect(server.tree()).toEqual(['config.json']);
  });

  it('file-storage-backend/Scenario 4: deep path with folders made on the way', async () => {
    await using server = await startMemory();
    await server.ok('create', create('nodes/projects/archive/old-project.md', '# Archived'));
    expect(server.text('nodes/projects/archive/old-project.md')).toBe('# Archived');
  });

  it('file-storage-backend/Scenario 5: directory listing', async () => {
    await using server = await startMemory();
    for (const name of ['proj_003.md', 'proj_001.md', 'proj_002.md', '.hidden']) server.file(`nodes/${name}`, '');
    const expected = { type: 'directory', entries: ['proj_001.md', 'proj_002.md', 'proj_003.md'] };
    expect(await server.ok('view', { path: 'nodes/' })).toEqual(expected);
  });

  it('file-storage-backend/Scenario 6: path security enforcement', async () => {
    await using server = await startMemory();
    const name = '../../../etc/passwd';
    expect(await server.fails('view', { path: name })).toEqual({ ...ESCAPES, path: name });
  });

  it('file-storage-backend/Scenario 7: non-unique string replacement fails', async () => {
    await using server = await startMemory();
    server.file('notes.md', 'TODO: finish this\nTODO: review that\n');
    expect(await server.fails('str_replace', { path: 'notes.md', old_str: 'TODO', new_str: 'DONE' })).toEqual({
      code: 'string_not_unique',
      message: 'String appears 2 times, must be unique',
      path: 'notes.md',
    });
    expect(server.text('notes.md')).toBe('TODO: finish this\nTODO: review that\n');
  });

  it('file-storage-backend/Scenario 8: symlink escape prevention', async () => {
    await using server = await startMemory();
    fs.symlinkSync('/etc/passwd', path.join(server.inside, 'malicious-link'));
    expect(await server.fails('view', { path: 'malicious-link' })).toEqual({ ...ESCAPES, path: 'malicious-link' });
  });

  it('file-storage-backend/Scenario 9: directory deletion with hidden files', async () => {
    await using server = await startMemory();
    server.file('temp/.gitkeep', '');
    expect(await server.fails('delete', { path: 'temp/' })).toEqual({
      code: 'directory_not_empty',
      message: 'Directory not empty: temp/',
      path: 'temp/',
    });
    expect(server.tree()).toEqual(['temp/', 'temp/.gitkeep']);
  });
});

describe('beyond the document', () => {
  it('a root that allows only reading is read-only, with permission_denied', async () => {
    await using server = await startMemory({ allowed: ['read_file', 'list_folder'] });
    server.file('a.md', 'a');
    const denied = { code: 'permission_denied', message: 'Permission denied: a.md', path: 'a.md' };
    expect((await server.ok('view', { path: 'a.md' })).content).toBe('a');
    expect(await server.fails('create', create('a.md', 'x'))).toEqual(denied);
    expect(await server.fails('str_replace', { path: 'a.md', old_str: 'a', new_str: 'b' })).toEqual(denied);
    expect(await server.fails('insert', { path: 'a.md', insert_line: 1, new_str: 'b' })).toEqual(denied);
    expect(await server.fails('delete', { path: 'a.md' })).toEqual(denied);
    const move = { old_path: 'a.md', new_path: 'b.md' };
    expect(await server.fails('rename', move)).toEqual({ ...denied, message: 'Permission denied' });
    expect(server.tree()).toEqual(['a.md']);
  });

  it('folders need capabilities of their own', async () => {
    await using server = await startMemory({ allowed: ['read_file', 'remove_file'] });
    fs.mkdirSync(path.join(server.inside, 'folder'));
    const denied = { code: 'permission_denied', message: 'Permission denied: folder', path: 'folder' };
    expect(await server.fails('view', { path: 'folder' })).toEqual(denied);
    expect(await server.fails('delete', { path: 'folder' })).toEqual(denied);
    expect(server.tree()).toEqual(['folder/']);
  });

  it('a file that is too large to return says how large it may be', async () => {
    await using server = await startMemory({ config: { max_full_read_size: 10 } });
    server.file('big.md', 'x'.repeat(11));
    expect(await server.fails('view', { path: 'big.md' })).toEqual({
      code: 'file_too_large',
      message: 'File too large: big.md (11 bytes, limit 10 bytes)',
      path: 'big.md',
    });
    await using roomy = await startMemory();
    roomy.file('big.md', 'x'.repeat(5_000_000));
    const error = await roomy.fails('view', { path: 'big.md' });
    expect(error).toMatchObject({ code: 'file_too_large', path: 'big.md' });
    expect(error.message).toMatch(/^Too large to return: big\.md \(\d+ bytes, limit \d+ bytes\)$/);
    await roomy.ok('str_replace', { path: 'big.md', old_str: 'x'.repeat(5_000_000), new_str: 'small' });
    expect((await roomy.ok('view', { path: 'big.md' })).content).toBe('small');
  });

  it('a pipe is refused, not waited for; its name can be deleted', async () => {
    const { execFileSync } = await import('node:child_process');
    await using server = await startMemory();
    execFileSync('mkfifo', [path.join(server.inside, 'pipe')]);
    const denied = { code: 'permission_denied', message: 'Permission denied: pipe', path: 'pipe' };
    expect(await server.fails('view', { path: 'pipe' })).toEqual(denied);
    expect(await server.fails('str_replace', { path: 'pipe', old_str: 'a', new_str: 'b' })).toEqual(denied);
    await server.ok('delete', { path: 'pipe' });
    expect(server.tree()).toEqual([]);
  });

  it('an edit keeps the mode and changes the modification time', async () => {
    await using server = await startMemory();
    server.file('a.md', 'a');
    const host = path.join(server.inside, 'a.md');
    fs.chmodSync(host, 0o640);
    fs.utimesSync(host, 1, 1);
    await server.ok('str_replace', { path: 'a.md', old_str: 'a', new_str: 'b' });
    expect(fs.statSync(host).mode & 0o777).toBe(0o640);
    expect(fs.statSync(host).mtimeMs).toBeGreaterThan(1000);
  });

  it('no error shows a path of the host', async () => {
    await using server = await startMemory();
    outside(server);
    for (const name of ['out', 'missing', 'x'.repeat(300), '../x']) {
      expect((await server.call('view', { path: name })).text).not.toContain(server.inside);
      expect((await server.call('create', create(name, 'x'))).text).not.toContain(server.inside);
    }
    expect(await server.fails('view', { path: 'x'.repeat(300) })).toMatchObject({ code: 'invalid_arguments' });
  });
});

it('what is made is for its owner alone, and what exists keeps its mode', async () => {
  await using server = await startMemory();
  const host = (name: string) => path.join(server.inside, name);
  fs.writeFileSync(host('old.txt'), 'a');
  fs.chmodSync(host('old.txt'), 0o644);
  await server.call('create', create('deep/er/new.txt', 'a'));
  await server.call('create', create('deep/er/binary', 'AAAA', 'base64'));
  await server.call('insert', { path: 'deep/er/new.txt', insert_line: 1, new_str: 'b\n' });
  await server.call('str_replace', { path: 'old.txt', old_str: 'a', new_str: 'b' });
  await server.call('rename', { old_path: 'old.txt', new_path: 'other/folder/old.txt' });
  const names = [
    'deep',
    'deep/er',
    'deep/er/new.txt',
    'deep/er/binary',
    'other',
    'other/folder',
    'other/folder/old.txt',
  ];
  const modes = names.map((name) => (fs.statSync(host(name)).mode & 0o777).toString(8));
  expect(modes).toEqual(['700', '700', '600', '600', '700', '700', '644']);
});
