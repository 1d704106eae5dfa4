import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const PATCH = '@@ -1 +1 @@\n-one\n+two\n';

inWorkspace({}, (w) => {
  test('a version is the same wherever it comes from, and changes with the file', async () => {
    const seen = new Set<string>();
    const version = async (made?: string) => {
      const read = (await w.ok('read_file', { path: 'f' })).version;
      expect([(await w.ok('stat_file', { path: 'f' })).version, made ?? read]).toEqual([read, read]);
      expect(read).toEqual(VERSION);
      seen.add(read);
      return read;
    };
    await version((await w.ok('write_file', { path: 'f', content: 'one\n' })).version);
    await version((await w.ok('patch_file', { path: 'f', patch: PATCH })).version);
    await version((await w.ok('write_file', { path: 'f', content: 'x\n', mode: 'append' })).version);
    await w.ok('move', { source_path: 'f', dest_path: 'g' });
    await w.ok('copy', { source_path: 'g', dest_path: 'f' });
    await version();
    fs.appendFileSync(w.host('f'), 'by another program');
    await version();
    expect(seen.size).toBe(5);
    const page = await w.ok('read_file', { path: 'f', offset_lines: 1, limit_lines: 1 });
    expect(page.version).toBe(await version());
  });

  test.each([
    ['remove_file', { path: 'link' }],
    ['move', { source_path: 'link', dest_path: 'to' }],
  ])('%s %j of a link asks for the version of the link, not of what it leads to', async (tool, args) => {
    w.file('f', 'one\n');
    w.link('f', 'link');
    const { version: read } = await w.ok('read_file', { path: 'link' });
    const { version: own } = await w.ok('stat_file', { path: 'link' });
    for (const other of [read, sha256('one\n')]) {
      const text = await w.fails(tool, { ...args, if_match: other });
      expect(text).toContain(
        `if_match ${other} does not match: it is a symlink, which has a version of its own, as stat_file shows; it is now version ${own}, `,
      );
      expect(text).toMatch(/; nothing was changed: link \(root: workspace\)$/);
    }
    await w.ok(tool, { ...args, if_match: own });
    expect(fs.readFileSync(w.host('f'), 'utf8')).toBe('one\n');
  });

  test.each([
    ['write_file', { path: 'f', content: 'two' }],
    ['write_file', { path: 'f', content: 'two', mode: 'append' }],
    ['patch_file', { path: 'f', patch: PATCH }],
    ['remove_file', { path: 'f' }],
    ['move', { source_path: 'f', dest_path: 'to' }],
    ['copy', { source_path: 'source', dest_path: 'f' }],
  ])('%s %j changes the expected version only', async (tool, args) => {
    const before = () => {
      w.file('f', 'one\n');
      w.file('source', 'two');
      return w.ok('read_file', { path: 'f' });
    };
    const { version } = await before();
    for (const other of ['000000000000', 'absent', sha256('other')]) {
      const text = await w.fails(tool, { ...args, if_match: other });
      expect(text).toContain(`if_match ${other} does not match: it `);
      expect(text).toMatch(
        /version [0-9a-v]{12}, size 4 bytes, modified 20\d\d-.*nothing was changed: f \(root: workspace\)$/,
      );
      expect(text).toContain(version);
      expect(w.tree()).toEqual(['f', 'source']);
      expect((await w.ok('read_file', { path: 'f' })).version).toBe(version);
    }
    await w.ok(tool, { ...args, if_match: version });
    expect(await w.fails(tool, { ...args, if_match: version })).toMatch(/does not match|not found/);
    await before();
    await w.ok(tool, { ...args, if_match: sha256('one\n') });
  });

  test('a file that is missing does not match, and nothing is made', async () => {
    w.file('source', 'two');
    for (const [tool, args] of [
      ['write_file', { path: 'a/f', content: '' }],
      ['patch_file', { path: 'a/f', patch: '@@ -0,0 +1 @@\n+two\n' }],
      ['copy', { source_path: 'source', dest_path: 'a/f' }],
    ] as const) {
      expect(await w.fails(tool, { ...args, if_match: '000000000000' })).toBe(
        'if_match 000000000000 does not match: there is no such file now; nothing was changed: a/f (root: workspace)',
      );
      expect(w.tree()).toEqual(['source']);
    }
    await w.ok('write_file', { path: 'a/f', content: 'made', if_match: 'absent' });
    expect(w.text('a/f')).toBe('made');
  });

  test('a copy with a condition goes to its destination itself, never into it', async () => {
    w.file('from/x', '1');
    w.file('f', '2');
    w.folder('to');
    for (const source_path of ['from', 'f']) {
      expect(await w.fails('copy', { source_path, dest_path: 'to', if_match: 'absent' })).toContain(
        'if_match absent does not match',
      );
    }
    expect(w.tree()).toEqual(['f', 'from/', 'from/x', 'to/']);
    await w.ok('copy', { source_path: 'from', dest_path: 'new', if_match: 'absent' });
    expect(w.tree()).toContain('new/x');
  });

  test('of many writers that read the same version, one writes', async () => {
    w.file('f', 'one\n');
    const { version } = await w.ok('read_file', { path: 'f' });
    const calls = Array.from({ length: 20 }, (_, index) =>
      w.call('write_file', { root: 'workspace', path: 'f', content: `by ${index}`, if_match: version }),
    );
    const results = await Promise.all(calls);
    expect(results.filter(({ isError }) => !isError)).toHaveLength(1);
  });

  test('overwrite: false leaves an existing destination alone', async () => {
    w.file('f', 'one');
    w.file('g', 'two');
    w.file('d/f', 'three');
    for (const tool of ['copy', 'move']) {
      for (const dest_path of ['g', 'd']) {
        const path = dest_path === 'd' ? 'd/f' : 'g';
        expect(await w.fails(tool, { source_path: 'f', dest_path, overwrite: false })).toBe(
          `destination already exists and overwrite is false: ${path} (root: workspace)`,
        );
      }
    }
    w.file('e/x', '');
    w.folder('into/e');
    for (const tool of ['copy', 'move']) {
      const text = await w.fails(tool, { source_path: 'e', dest_path: 'into', overwrite: false });
      expect(text).toContain('destination already exists and overwrite is false: into/e');
    }
    expect([w.text('f'), w.text('g'), w.text('d/f')]).toEqual(['one', 'two', 'three']);
    await w.ok('copy', { source_path: 'f', dest_path: 'h', overwrite: false });
    await w.ok('move', { source_path: 'f', dest_path: 'i', overwrite: false });
    expect(w.tree()).toEqual(['d/', 'd/f', 'e/', 'e/x', 'g', 'h', 'i', 'into/', 'into/e/']);
  });

  test('overwrite: false, if_match: absent: of many, one creates', async () => {
    w.file('f', 'one');
    const root = { source_root: 'workspace', dest_root: 'workspace' };
    const copies = Array.from({ length: 20 }, (_, index) =>
      w.call('copy', {
        ...root,
        source_path: 'f',
        dest_path: 'g',
        ...(index % 2 ? { overwrite: false } : { if_match: 'absent' }),
      }),
    );
    const results = await Promise.all(copies);
    expect(results.filter(({ isError }) => !isError)).toHaveLength(1);
  });
});
