import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { Root } from '../../fence/index.ts';
import { treeOf } from '../../fence/sandbox.fixture.ts';
import { FileStorage } from './file-storage.ts';
import { cannotMount } from './memory-mount.fixture.ts';
import { StorageError } from './storage-error.ts';

let base: string;
let storage: FileStorage;

beforeEach(() => {
  base = tempDir('ringfence-storage-');
  storage = FileStorage.open(base, { durable: false });
});

afterEach(async () => {
  await storage.close();
  fs.rmSync(base, { recursive: true, force: true });
});

async function failure(work: Promise<unknown>): Promise<StorageError> {
  const thrown = await work.then(
    () => 'worked',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(StorageError);
  return thrown as StorageError;
}

describe('FileStorage', () => {
  it('has the six tools as methods', async () => {
    expect(await storage.create('notes/a.md', 'one\ntwo\n', 'utf-8')).toBeUndefined();
    await storage.create('logo', Buffer.from([0xff, 0]).toString('base64'), 'base64');
    await storage.str_replace('notes/a.md', 'two', '$&');
    await storage.insert('notes/a.md', 3, 'three');
    expect(await storage.view('notes/a.md')).toEqual({
      type: 'file',
      content: 'one\n$&\nthree',
      encoding: 'utf-8',
      size: 12,
    });
    expect(await storage.view('logo')).toEqual({ type: 'file', content: '/wA=', encoding: 'base64', size: 2 });
    await storage.rename('notes/a.md', 'b.md');
    await storage.delete('notes');
    expect(await storage.view('.')).toEqual({ type: 'directory', entries: ['b.md', 'logo'] });
  });

  it('throws errors with code, message and path', async () => {
    const error = await failure(storage.view('a.md'));
    expect(error.code).toBe('file_not_found');
    expect(error.message).toBe('File not found: a.md');
    expect(error.path).toBe('a.md');
    expect(JSON.stringify(error)).toBe('{"code":"file_not_found","message":"File not found: a.md","path":"a.md"}');
  });

  it('checks arguments, for programs that are not typed', async () => {
    const untyped = storage as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    expect(await failure(untyped.view?.call(storage) as Promise<unknown>)).toMatchObject({
      code: 'invalid_arguments',
      message: 'path is required',
    });
    expect(await failure(storage.create('a', 'x', 'latin1' as 'utf-8'))).toMatchObject({ code: 'invalid_arguments' });
    expect(await failure(storage.insert('a', Number.NaN, 'x'))).toMatchObject({ code: 'invalid_arguments' });
    expect(treeOf(base)).toEqual([]);
  });

  it('returns files far larger than a protocol message', async () => {
    fs.writeFileSync(path.join(base, 'big'), Buffer.alloc(20_000_000, 'x'));
    expect((await storage.view('big')).size).toBe(20_000_000);
  });

  it('creates a missing base folder, and accepts only an absolute path to a folder', async () => {
    await using deeper = FileStorage.open(path.join(base, 'made', 'here'));
    await deeper.create('a', 'x', 'utf-8');
    expect(treeOf(base)).toEqual(['made/', 'made/here/', 'made/here/a']);
    expect(() => FileStorage.open('relative/folder')).toThrow('absolute path, got "relative/folder"');
    expect(() => FileStorage.open('')).toThrow('absolute path, got ""');
    expect(() => FileStorage.open(path.join(base, 'made/here/a'))).toThrow(/cannot be used: E(EXIST|NOTDIR)/);
    expect(() => FileStorage.open('/dev/null/x')).toThrow('cannot be used: ENOTDIR');
  });

  it('removes temporary files of a killed process, and never lists them', async () => {
    const { temporaryName } = await import('../../fence/index.ts');
    const dead = temporaryName().replace(`-${process.pid}-`, '-999999999-');
    expect(dead).toContain('-999999999-');
    fs.mkdirSync(path.join(base, 'notes'));
    fs.writeFileSync(path.join(base, 'notes', dead), 'half');
    expect(await storage.view('notes')).toEqual({ type: 'directory', entries: [] });
    await using again = FileStorage.open(base);
    await expect.poll(() => treeOf(base)).toEqual(['notes/']);
    await again.delete('notes');
  });

  it('waits for running calls on close, and refuses later ones', async () => {
    const running = storage.create('a', 'x', 'utf-8');
    await Promise.all([storage.close(), storage.close()]);
    await running;
    expect(treeOf(base)).toEqual(['a']);
    expect(await failure(storage.view('a'))).toMatchObject({ code: 'internal_error', message: 'already closed' });
  });

  it('hides the message of an unexpected error', async () => {
    const spy = vi.spyOn(Root.prototype, 'locate').mockImplementation(() => {
      throw new Error(`cannot read ${base}`);
    });
    const error = await failure(storage.delete('a')).finally(() => spy.mockRestore());
    expect(error.toJSON()).toEqual({ code: 'internal_error', message: 'Internal error' });
    expect(error.cause).toMatchObject({ message: `cannot read ${base}` });
  });

  it.skipIf(cannotMount)(`renames folders onto another disk below the base (${cannotMount ?? 'mounted'})`, async () => {
    await storage.create('notes/a.md', 'one', 'utf-8');
    const disk = path.join(base, 'disk');
    fs.mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      await storage.rename('notes', 'disk/notes');
      expect(treeOf(base)).toEqual(['disk/', 'disk/notes/', 'disk/notes/a.md']);
    } finally {
      execFileSync('umount', ['--lazy', disk]);
    }
  });
});
