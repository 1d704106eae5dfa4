import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BoundServer } from '../support/bound-server.ts';

describe('filesystem-server/write', () => {
  test('every field of the response', async () => {
    await using box = await BoundServer.start('classic');
    const result = await box.ok('write', { path: './f.txt', content: 'h\u00e9llo' });
    const { mtime } = fs.statSync(box.host('f.txt'));
    expect(result).toEqual({
      success: true,
      path: 'f.txt',
      bytes_written: 6,
      metadata: { path: 'f.txt', modified: mtime.toISOString(), size: 6 },
    });
  });

  test.each([
    ['overwrite', 'new', 3],
    ['append', 'oldnew', 6],
  ])('%s an existing file', async (mode, text, size) => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'old', 0o600);
    const result = await box.ok('write', { path: 'f', content: 'new', mode });
    expect(result).toMatchObject({ bytes_written: 3, metadata: { size } });
    expect([box.text('f'), box.mode('f')]).toEqual([text, '600']);
  });

  test.each(['create', 'create_new', 'overwrite', 'append'])('%s makes a missing file', async (mode) => {
    await using box = await BoundServer.start('classic');
    expect(await box.ok('write', { path: 'f', content: '', mode })).toMatchObject({ bytes_written: 0 });
    expect(box.text('f')).toBe('');
  });

  test('overwrite is the default, and leaves nothing else behind', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'a longer old text');
    await box.ok('write', { path: 'f', content: 'new' });
    expect([box.text('f'), box.tree()]).toEqual(['new', ['f']]);
  });

  test('a missing parent is not_found unless make_dirs', async () => {
    await using box = await BoundServer.start('classic');
    for (const mode of ['create', 'create_new', 'overwrite', 'append']) {
      expect(await box.code('write', { path: 'a/b/f', content: 'x', mode })).toBe('not_found');
    }
    expect(box.tree()).toEqual([]);
    expect(await box.ok('write', { path: 'a/b/f', content: 'x', make_dirs: true })).toMatchObject({ path: 'a/b/f' });
    expect(box.tree()).toEqual(['a/', 'a/b/', 'a/b/f']);
  });

  test('content is written byte for byte, as text and as base64', async () => {
    await using box = await BoundServer.start('classic');
    for (const content of ['a\r\nb', '\ufeffx', '$& $1', '\0', '\u{1f600}', '']) {
      await box.ok('write', { path: 'f', content });
      expect(box.text('f')).toBe(content);
    }
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    for (const part of [bytes, bytes.subarray(1), bytes.subarray(2), Buffer.alloc(0)]) {
      const args = { path: 'b', content: part.toString('base64'), encoding: 'base64' };
      expect(await box.ok('write', args)).toMatchObject({ bytes_written: part.length });
      expect(fs.readFileSync(box.host('b'))).toEqual(part);
    }
    await box.ok('write', { path: 'b', content: 'AP8=', encoding: 'base64', mode: 'append' });
    expect(fs.readFileSync(box.host('b'))).toEqual(Buffer.from([0, 255]));
  });

  test('goes through links that stay inside, and refuses to create where one is', async () => {
    await using box = await BoundServer.start('classic');
    box.file('real', 'old');
    box.link('real', 'in');
    box.link('fresh', 'dangling');
    await box.ok('write', { path: 'in', content: 'new' });
    expect(box.text('real')).toBe('new');
    expect(await box.code('write', { path: 'dangling', content: 'x', mode: 'create_new' })).toBe('already_exists');
    await box.ok('write', { path: 'dangling', content: 'x' });
    expect(box.tree()).toEqual(['dangling -> fresh', 'fresh', 'in -> real', 'real']);
  });

  test('backslashes separate folders', async () => {
    await using box = await BoundServer.start('classic');
    expect(await box.ok('write', { path: 'a\\b.txt', content: 'x', make_dirs: true })).toMatchObject({
      path: 'a/b.txt',
    });
    expect(box.tree()).toEqual(['a/', 'a/b.txt']);
  });
});

describe('filesystem-server/mkdir', () => {
  test('makes parents by default, and an existing folder is fine then', async () => {
    await using box = await BoundServer.start('classic');
    expect(await box.ok('mkdir', { path: 'a/b/../c' })).toEqual({ success: true, path: 'a/c' });
    expect(await box.ok('mkdir', { path: 'a/c' })).toEqual({ success: true, path: 'a/c' });
    expect(await box.ok('mkdir', { path: '.' })).toEqual({ success: true, path: '.' });
    expect(box.tree()).toEqual(['a/', 'a/c/']);
  });

  test('without recursive makes just the one', async () => {
    await using box = await BoundServer.start('classic');
    expect(await box.code('mkdir', { path: 'a/b', recursive: false })).toBe('not_found');
    expect(await box.ok('mkdir', { path: 'a', recursive: false })).toEqual({ success: true, path: 'a' });
    expect(await box.code('mkdir', { path: 'a', recursive: false })).toBe('already_exists');
    expect(box.tree()).toEqual(['a/']);
  });
});

describe('filesystem-server/delete', () => {
  test('files, links and empty folders go without more, and the response tells what they were', async () => {
    await using box = await BoundServer.start('classic');
    box.file('d/f');
    box.folder('e');
    box.link('d', 'l');
    expect(await box.ok('delete', { path: 'd/./f' })).toEqual({ success: true, path: 'd/f', type: 'file' });
    expect(await box.ok('delete', { path: 'e' })).toEqual({ success: true, path: 'e', type: 'directory' });
    expect(await box.ok('delete', { path: 'l', recursive: true })).toEqual({
      success: true,
      path: 'l',
      type: 'symlink',
    });
    expect(box.tree()).toEqual(['d/']);
  });

  test('a folder that is not empty needs recursive, which force does not replace', async () => {
    await using box = await BoundServer.start('classic');
    box.file('d/e/f');
    box.link('../../outside', 'd/out');
    for (const force of [false, true])
      expect(await box.code('delete', { path: 'd', force })).toBe('directory_not_empty');
    expect(await box.ok('delete', { path: 'd', recursive: true })).toEqual({
      success: true,
      path: 'd',
      type: 'directory',
    });
    expect(box.tree()).toEqual([]);
    expect(box.tree('../outside')).toEqual(['secret']);
  });

  test('with force a missing path is a success, an escape is not', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f');
    for (const path of ['none', 'no/ne', 'f/x']) {
      expect(await box.ok('delete', { path, force: true })).toEqual({ success: true, path, type: 'missing' });
    }
    expect(await box.code('delete', { path: '../outside/secret', force: true })).toBe('path_validation_error');
    expect(box.tree('../outside')).toEqual(['secret']);
  });
});

describe('filesystem-server/copy', () => {
  test('a file: every field, mode and bytes kept, parents made', async () => {
    await using box = await BoundServer.start('classic');
    box.file('run.sh', Buffer.from([0, 255, 13, 10]), 0o755);
    expect(await box.ok('copy', { source: './run.sh', destination: 'a/b/../copy.sh' })).toEqual({
      success: true,
      source: 'run.sh',
      destination: 'a/copy.sh',
      bytes_copied: 4,
    });
    expect(fs.readFileSync(box.host('a/copy.sh'))).toEqual(Buffer.from([0, 255, 13, 10]));
    expect(box.mode('a/copy.sh')).toBe('755');
  });

  test('overwrite replaces a file', async () => {
    await using box = await BoundServer.start('classic');
    box.file('new', 'new');
    box.file('old', 'a longer old text');
    expect(await box.ok('copy', { source: 'new', destination: 'old', overwrite: true })).toMatchObject({
      bytes_copied: 3,
    });
    expect([box.text('old'), box.tree()]).toEqual(['new', ['new', 'old']]);
  });

  test('a folder is copied to the exact destination, and merged into a folder with overwrite', async () => {
    await using box = await BoundServer.start('classic');
    box.file('d/f', '12345');
    box.file('d/e/g', '123');
    const copied = { success: true, source: 'd', destination: 'to', bytes_copied: 8 };
    expect(await box.ok('copy', { source: 'd', destination: 'to' })).toEqual(copied);
    box.file('to/f', 'changed');
    box.file('to/own');
    expect(await box.ok('copy', { source: 'd', destination: 'to', overwrite: true })).toEqual(copied);
    expect(box.tree('to')).toEqual(['e/', 'e/g', 'f', 'own']);
    expect(box.text('to/f')).toBe('12345');
  });

  test('what cannot be copied is listed', async () => {
    await using box = await BoundServer.start('classic');
    box.file('d/f');
    box.link('f', 'd/in');
    box.link('../../outside/secret', 'd/out');
    expect(await box.ok('copy', { source: 'd', destination: 'to' })).toMatchObject({ skipped: ['out'] });
    expect(box.tree('to')).toEqual(['f', 'in -> f']);
  });
});

describe('filesystem-server/move', () => {
  test('files and folders go to the exact destination, parents made', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'x');
    box.file('d/e/g');
    const moved = { success: true, source: 'f', destination: 'a/b' };
    expect(await box.ok('move', { source: './f', destination: 'a/./b' })).toEqual(moved);
    expect(await box.ok('move', { source: 'd', destination: 'a/d' })).toMatchObject({ destination: 'a/d' });
    expect(box.tree()).toEqual(['a/', 'a/b', 'a/d/', 'a/d/e/', 'a/d/e/g']);
  });

  test('overwrite replaces a file, and an empty folder by a folder', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'new');
    box.file('old', 'old');
    box.file('d/g');
    box.folder('empty');
    await box.ok('move', { source: 'f', destination: 'old', overwrite: true });
    await box.ok('move', { source: 'd', destination: 'empty', overwrite: true });
    expect([box.text('old'), box.tree()]).toEqual(['new', ['empty/', 'empty/g', 'old']]);
  });

  test('a link is moved itself', async () => {
    await using box = await BoundServer.start('classic');
    box.link('../outside', 'out');
    await box.ok('move', { source: 'out', destination: 'renamed' });
    expect(box.tree()).toEqual(['renamed -> ../outside']);
  });
});
