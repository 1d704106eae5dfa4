import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

inWorkspace({}, (w) => {
  test('E2E-032 FR-011 NFR-013: what is known about a file', async () => {
    const host = w.file('data/data.json', '{"a":1}');
    fs.utimesSync(host, 1_700_000_000, 1_700_000_000.5);
    expect(await w.ok('stat_file', { path: 'data/data.json' })).toEqual({
      name: 'data.json',
      path: 'data/data.json',
      size: 7,
      is_directory: false,
      is_symlink: false,
      modified_at: '2023-11-14T22:13:20.500Z',
      created_at: expect.stringMatching(ISO),
      version: VERSION,
    });
  });

  test('E2E-033 FR-011: what is known about a folder', async () => {
    const host = w.folder('subdir');
    expect(await w.ok('stat_file', { path: 'subdir' })).toMatchObject({
      name: 'subdir',
      size: fs.statSync(host).size,
      is_directory: true,
      is_symlink: false,
    });
    expect(await w.ok('stat_file', { path: '' })).toMatchObject({ is_directory: true });
  });

  test('E2E-034 FR-011: a link is described, and what it leads to', async () => {
    w.file('target.txt', '12345');
    w.link('target.txt', 'link');
    expect(await w.ok('stat_file', { path: 'link' })).toMatchObject({
      name: 'link',
      path: 'link',
      is_symlink: true,
      is_directory: false,
      target: { name: 'target.txt', path: 'target.txt', size: 5, is_symlink: false, is_directory: false },
    });
    w.link('nowhere', 'dangling');
    expect(await w.ok('stat_file', { path: 'dangling' })).toMatchObject({ is_symlink: true, target: null });
    w.link('/etc/passwd', 'outward');
    expect(await w.fails('stat_file', { path: 'outward' })).toBe(
      'path resolves outside root boundary: outward (root: workspace)',
    );
  });

  test('FR-011: nothing is known about what is not there', async () => {
    expect(await w.fails('stat_file', { path: 'ghost' })).toBe('file not found: ghost (root: workspace)');
  });

  test('E2E-035 FR-012: sha256', async () => {
    w.file('known.txt', 'test content\n');
    expect(await w.ok('hash_file', { path: 'known.txt', algorithm: 'sha256' })).toEqual({
      path: 'known.txt',
      algorithm: 'sha256',
      hash: 'a1fff0ffefb9eace7230c24e50731f0a91c62f9cefdfe77121c2f607125dffae',
      size: 13,
    });
  });

  test('E2E-036 FR-012: md5 and sha1', async () => {
    const content = 'test content\n';
    w.file('known.txt', content);
    for (const algorithm of ['md5', 'sha1']) {
      expect(await w.ok('hash_file', { path: 'known.txt', algorithm })).toEqual({
        path: 'known.txt',
        algorithm,
        hash: createHash(algorithm).update(content).digest('hex'),
        size: 13,
      });
    }
    w.file('empty');
    const { hash } = await w.ok('hash_file', { path: 'empty', algorithm: 'md5' });
    expect(hash).toBe('d41d8cd98f00b204e9800998ecf8427e');
  });

  test('E2E-037 FR-012: md4 is not supported', async () => {
    w.file('any.txt');
    expect(await w.fails('hash_file', { path: 'any.txt', algorithm: 'md4' })).toContain(
      'unsupported hash algorithm: md4; supported: md5, sha1, sha256',
    );
  });

  test.each(['sha512', 'SHA256', ''])('E2E-075 FR-012: %j is not supported', async (algorithm) => {
    w.file('any.txt');
    const text = await w.fails('hash_file', { path: 'any.txt', algorithm });
    expect(text).toContain('unsupported hash algorithm');
    expect(text).toContain('md5, sha1, sha256');
  });

  test('E2E-038 FR-012: a folder has no hash', async () => {
    w.folder('subdir');
    expect(await w.fails('hash_file', { path: 'subdir', algorithm: 'sha256' })).toBe(
      'cannot hash a directory: subdir (root: workspace)',
    );
    expect(await w.fails('hash_file', { path: '', algorithm: 'sha256' })).toContain('cannot hash a directory');
    expect(await w.fails('hash_file', { path: 'ghost', algorithm: 'md5' })).toBe(
      'file not found: ghost (root: workspace)',
    );
  });

  test('E2E-039 FR-013: owner, group and mode of a file', async () => {
    const host = w.file('script.sh');
    fs.chmodSync(host, 0o755);
    const { username } = os.userInfo();
    const gid = String(fs.statSync(host).gid);
    const group = fs
      .readFileSync('/etc/group', 'utf8')
      .split('\n')
      .find((line) => line.split(':')[2] === gid);
    expect(await w.ok('permissions_file', { path: 'script.sh' })).toEqual({
      path: 'script.sh',
      owner: username,
      group: group?.split(':')[0] ?? gid,
      mode: '0755',
      mode_string: '-rwxr-xr-x',
    });
    fs.chmodSync(host, 0o4640);
    expect(await w.ok('permissions_file', { path: 'script.sh' })).toMatchObject({
      mode: '4640',
      mode_string: '-rwSr-----',
    });
  });

  test('E2E-040 FR-013: mode of a folder', async () => {
    fs.chmodSync(w.folder('subdir'), 0o755);
    expect(await w.ok('permissions_file', { path: 'subdir' })).toMatchObject({
      path: 'subdir',
      mode: '0755',
      mode_string: 'drwxr-xr-x',
    });
  });

  test('FR-013: a link and what it leads to', async () => {
    fs.chmodSync(w.file('target.txt'), 0o600);
    w.link('target.txt', 'link');
    expect(await w.ok('permissions_file', { path: 'link' })).toMatchObject({
      mode_string: 'lrwxrwxrwx',
      target: { path: 'target.txt', mode: '0600', mode_string: '-rw-------' },
    });
    w.link('/etc/passwd', 'outward');
    expect(await w.fails('permissions_file', { path: 'outward' })).toContain('path resolves outside root boundary');
    expect(await w.fails('permissions_file', { path: 'ghost' })).toContain('not found: ghost');
  });

  test.runIf(process.getuid?.() === 0)('FR-013: an owner without a name is a number (needs root)', async () => {
    fs.chownSync(w.file('orphan'), 54_321, 54_322);
    expect(await w.ok('permissions_file', { path: 'orphan' })).toMatchObject({ owner: '54321', group: '54322' });
  });
});
