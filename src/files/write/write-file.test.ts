import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { WRITE_MODES, type WriteMode, writeFile } from './write-file.ts';

function write(
  { root }: Sandbox,
  raw: string,
  content: string | Buffer,
  mode: WriteMode = 'overwrite',
  durable = true,
) {
  return writeFile(root, parseCallerPath(raw), Buffer.from(content), { mode, durable });
}

function withUmask<T>(mask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  return work().finally(() => process.umask(before));
}

onEveryBackend((open, backend) => {
  test('overwrite replaces the content, append adds to it, create_only creates', async () => {
    using box = open();
    await write(box, 'f', 'first version', 'create_only');
    expect(box.text('f')).toBe('first version');
    await write(box, 'f', 'short');
    expect(box.text('f')).toBe('short');
    await write(box, 'f', ' and more', 'append');
    expect(box.text('f')).toBe('short and more');
    expect(await outcome(write(box, 'f', 'x', 'create_only'))).toBe('already_exists');
    expect(box.text('f')).toBe('short and more');
    expect(box.tree()).toEqual(['f']);
  });

  test.each(WRITE_MODES)('%s creates a missing file and its parent folders', async (mode) => {
    using box = open();
    await withUmask(0o022, () => write(box, 'new/deep/f', 'x', mode));
    expect(box.text('new/deep/f')).toBe('x');
    expect([box.mode('new'), box.mode('new/deep'), box.mode('new/deep/f')]).toEqual(['755', '755', '644']);
    await withUmask(0o077, () => write(box, 'private/f', 'x', mode));
    expect([box.mode('private'), box.mode('private/f')]).toEqual(['700', '600']);
    expect(await outcome(write(box, 'new/deep/f/below', 'x', mode))).toBe('not_directory');
  });

  test.each(WRITE_MODES)('%s of no bytes creates an empty file', async (mode) => {
    using box = open();
    await write(box, 'f', '', mode);
    expect(box.text('f')).toBe('');
  });

  test.each(WRITE_MODES)('%s never replaces a folder, the root, or a pipe', async (mode) => {
    using box = open();
    box.folder('d');
    execFileSync('mkfifo', [box.host('p')]);
    const refused = mode === 'create_only' ? 'already_exists' : undefined;
    expect(await outcome(write(box, 'd', 'x', mode))).toBe(refused ?? 'is_directory');
    expect(await outcome(write(box, 'p', 'x', mode))).toBe(refused ?? 'special_file');
    expect(await outcome(write(box, '/', 'x', mode))).toBe('is_directory');
    expect(box.tree()).toEqual(['d/', 'p']);
  });

  test.each(['overwrite', 'append'] as const)('%s keeps the mode and owner of an existing file', async (mode) => {
    using box = open();
    for (const bits of [0o600, 0o755, 0o4755, 0o666]) {
      box.file('f', 'old', bits);
      if (process.getuid?.() === 0) fs.chownSync(box.host('f'), 1234, 5678);
      fs.chmodSync(box.host('f'), bits);
      const { uid, gid } = fs.statSync(box.host('f'));
      await withUmask(0o077, () => write(box, 'f', 'new', mode));
      expect(fs.statSync(box.host('f'))).toMatchObject({ uid, gid });
      expect(box.mode('f')).toBe(bits.toString(8));
    }
  });

  test('writes the bytes unchanged', async () => {
    using box = open();
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x0d, 0x0a, 0x00, 0xff, 0x0d]);
    await write(box, 'f', bytes);
    expect(fs.readFileSync(box.host('f'))).toEqual(bytes);
  });

  test.each(['overwrite', 'append'] as const)(
    '%s follows a link that stays inside and keeps the link',
    async (mode) => {
      using box = open();
      box.file('real/f', '');
      box.link('../real/f', 'links/l');
      box.link(box.host('real/f'), 'links/absolute');
      await write(box, 'links/l', 'by link', mode);
      expect(box.text('real/f')).toBe('by link');
      await write(box, 'links/absolute', 'by link', mode);
      expect(box.tree()).toContain('links/l -> ../real/f');
      expect(box.tree('real')).toEqual(['f']);
      box.link('../real/none', 'links/dangling');
      await write(box, 'links/dangling', 'made', mode);
      expect(box.text('real/none')).toBe('made');
      expect(box.tree('links')).toContain('dangling -> ../real/none');
    },
  );

  test('create_only raises already_exists for any link', async () => {
    using box = open();
    box.file('f', 'old');
    box.link('f', 'good');
    box.link('none', 'dangling');
    box.link('no/ne', 'deep');
    box.link('self', 'self');
    for (const name of ['good', 'dangling', 'deep']) {
      expect(await outcome(write(box, name, 'x', 'create_only'))).toBe('already_exists');
    }
    expect(await outcome(write(box, 'self', 'x', 'create_only'))).toBe('link_loop');
    expect(box.text('f')).toBe('old');
    expect(box.tree()).toEqual(['dangling -> none', 'deep -> no/ne', 'f', 'good -> f', 'self -> self']);
  });

  test.each(WRITE_MODES)('%s creates and changes nothing outside through any kind of link', async (mode) => {
    using box = open();
    const before = fs.readdirSync(box.outside);
    box.link('../outside/secret', 'file');
    box.link('../outside/none', 'dangling');
    box.link('../outside', 'folder');
    box.link(`${box.outside}/none`, 'absolute');
    box.link('dangling', 'chain');
    for (const raw of ['file', 'dangling', 'folder/x', 'folder/new/x', 'absolute', 'chain', '../outside/x']) {
      expect([raw, await outcome(async () => write(box, raw, 'x', mode))]).toEqual([raw, 'outside_root']);
    }
    expect(fs.readdirSync(box.outside)).toEqual(before);
    expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
  });

  test('readers see the old or the new content, never a part', async () => {
    using box = open();
    box.file('f', 'a'.repeat(1000));
    const before = fs.openSync(box.host('f'), 'r');
    await write(box, 'f', 'b'.repeat(2000));
    expect(fs.readFileSync(before, 'utf8')).toBe('a'.repeat(1000));
    fs.closeSync(before);
    expect(box.text('f')).toBe('b'.repeat(2000));
  });

  test('without makeParents a missing folder is an error', async () => {
    using box = open();
    const options = { mode: 'overwrite', durable: false, makeParents: false } as const;
    const attempt = writeFile(box.root, parseCallerPath('no/f'), Buffer.from('x'), options);
    expect(await outcome(attempt)).toBe('not_found');
    expect(box.tree()).toEqual([]);
  });

  test('of 50 concurrent creations in one process exactly one succeeds', async () => {
    using box = open();
    const tries = Array.from({ length: 50 }, (_, i) => outcome(write(box, 'd/f', `${i}`.padStart(999), 'create_only')));
    const outcomes = await Promise.all(tries);
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(1);
    expect(outcomes.filter((each) => each === 'already_exists')).toHaveLength(49);
    expect(box.text('d/f').trim()).toBe(String(outcomes.indexOf('ok')));
    expect(box.tree()).toEqual(['d/', 'd/f']);
  });

  test('of 50 concurrent creations in 4 processes exactly one succeeds, with its full content', async () => {
    using box = open();
    const script = `
      const [who] = args;
      const tries = Array.from({ length: 13 }, (_, i) =>
        outcome(writeFile(root, path('f'), Buffer.from((who + i + '\\n').repeat(5000)), { mode: 'create_only', durable: i % 2 === 0 })));
      answer(await Promise.all(tries));`;
    const children = ['a', 'b', 'c', 'd'].map((who) =>
      runChild<string[]>(script, { folder: box.inside, args: [who], fence: backend }),
    );
    const outcomes = (await Promise.all(children)).flat();
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'already_exists']));
    const lines = box.text('f').trimEnd().split('\n');
    expect(lines).toHaveLength(5000);
    expect(new Set(lines).size).toBe(1);
    expect(box.tree()).toEqual(['f']);
  });
});

describe('concurrent writers', () => {
  test('200 appends from 4 processes are all complete', async () => {
    using box = new Sandbox('openat2');
    const script = `
      const [who] = args;
      const appends = Array.from({ length: 50 }, (_, i) =>
        writeFile(root, path('log'), Buffer.from(who + ' ' + i + ' ' + who.repeat(9000) + '\\n'), { mode: 'append', durable: false }));
      await Promise.all(appends);
      answer('done');`;
    await Promise.all(['a', 'b', 'c', 'd'].map((who) => runChild(script, { folder: box.inside, args: [who] })));
    const lines = box.text('log').trimEnd().split('\n');
    expect(lines).toHaveLength(200);
    for (const line of lines) expect(line).toMatch(/^([a-d]) \d+ \1{9000}$/);
    expect(new Set(lines).size).toBe(200);
  });

  test('concurrent overwrites leave the complete content of one', async () => {
    using box = new Sandbox('openat2');
    const contents = Array.from({ length: 30 }, (_, i) => `${i} `.repeat(20_000));
    await Promise.all(contents.map((content) => write(box, 'f', content)));
    expect(contents).toContain(box.text('f'));
    expect(box.tree()).toEqual(['f']);
  });
});

describe.skipIf(cannotDropPrivileges)(`as a user without rights (${cannotDropPrivileges ?? 'nobody'})`, () => {
  test('a read-only file is not replaced', async () => {
    using box = new Sandbox('openat2');
    // The folder would allow the rename, which is all that an atomic write needs.
    fs.chownSync(box.folder('theirs'), 65534, 65534);
    box.file('theirs/own-read-only', 'old', 0o444);
    fs.chownSync(box.host('theirs/own-read-only'), 65534, 65534);
    box.file('theirs/of-root', 'old', 0o644);
    box.file('theirs/shared', 'old', 0o664);
    fs.chownSync(box.host('theirs/shared'), 0, 65534);
    const script = `
      const results = {};
      for (const name of ['own-read-only', 'of-root', 'shared'])
        for (const mode of ['overwrite', 'append'])
          results[name + ' ' + mode] = await outcome(writeFile(root, path('theirs/' + name), Buffer.from('new'), { mode, durable: true }));
      results.folder = await outcome(writeFile(root, path('f'), Buffer.from('new'), { mode: 'overwrite', durable: true }));
      results.parents = await outcome(writeFile(root, path('a/b'), Buffer.from('new'), { mode: 'overwrite', durable: true }));
      answer(results);`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toEqual({
      'own-read-only overwrite': 'permission_denied',
      'own-read-only append': 'permission_denied',
      'of-root overwrite': 'permission_denied',
      'of-root append': 'permission_denied',
      'shared overwrite': 'ok',
      'shared append': 'ok',
      folder: 'permission_denied',
      parents: 'permission_denied',
    });
    expect(box.text('theirs/own-read-only')).toBe('old');
    expect(box.text('theirs/of-root')).toBe('old');
    expect(box.text('theirs/shared')).toBe('newnew');
    expect(box.tree()).toEqual(['theirs/', 'theirs/of-root', 'theirs/own-read-only', 'theirs/shared']);
  });

  test('the group of a replaced file is kept even if its owner cannot be', async () => {
    using box = new Sandbox('openat2');
    box.folder('shared', 0o777);
    box.file('shared/f', 'old', 0o660);
    fs.chownSync(box.host('shared/f'), 1234, 4321);
    box.file('shared/foreign', 'old', 0o666);
    fs.chownSync(box.host('shared/foreign'), 1234, 5678);
    const script = `
      for (const name of ['shared/f', 'shared/foreign'])
        await writeFile(root, path(name), Buffer.from('new'), { mode: 'overwrite', durable: false });
      answer('ok');`;
    await runChild(script, { folder: box.inside, unprivileged: true, groups: [4321] });
    expect(fs.statSync(box.host('shared/f'))).toMatchObject({ uid: 65534, gid: 4321 });
    expect(box.mode('shared/f')).toBe('660');
    expect(fs.statSync(box.host('shared/foreign'))).toMatchObject({ uid: 65534, gid: 65534 });
    expect(box.text('shared/foreign')).toBe('new');
  });
});

test('returns the new stats of the file', async () => {
  using box = new Sandbox('openat2');
  for (const [mode, size] of [
    ['create_only', 3],
    ['append', 6],
    ['overwrite', 3],
  ] as const) {
    const stats = await write(box, 'f', 'abc', mode);
    const now = fs.statSync(box.host('f'));
    expect([stats.size, stats.ino, stats.mtimeMs]).toEqual([size, now.ino, now.mtimeMs]);
  }
});
