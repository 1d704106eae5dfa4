import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const NAMES = [
  ...['a b c', ' leading', 'trailing ', '-rf', '--help', '~', '$HOME', '`id`', '*', '?', '[x]', '{a,b}', '!x', '#x'],
  ...[
    'new\nline',
    'tab\there',
    'bell\u0007',
    'quo"te',
    "quo'te",
    'back\\slash',
    'C:',
    'a:b',
    'a|b',
    '<x>',
    '...',
    '..a',
  ],
  ...['%2e%2e', '%00', 'ünï', 'u\u0308', 'ü', '日本語', '🦊', '\u200bzero', '\u202eabc', 'con', 'x'.repeat(255)],
  ...['ä'.repeat(127), '\ufeffbom', 'a\u2028b', '\u007f', '.hidden', '__proto__', 'constructor'],
];

inWorkspace({}, (w) => {
  test.each(NAMES)('the name %j is written, found, read, moved and removed', async (name) => {
    expect(await w.ok('write_file', { path: name, content: 'needle' })).toEqual({
      path: name,
      size: 6,
      mode: 'overwrite',
      version: VERSION,
    });
    expect(w.text(name)).toBe('needle');
    expect((await w.ok('read_file', { path: name })).content).toBe('needle');
    expect((await w.ok('list_folder', { path: '' })).entries).toMatchObject([{ name, type: 'file' }]);
    expect(await w.ok('stat_file', { path: name })).toMatchObject({ name, path: name, size: 6 });
    expect((await w.ok('grep', { pattern: 'needle' })).matches).toMatchObject([{ file: name }]);
    expect((await w.ok('glob', { pattern: '*' })).matches).toMatchObject([{ path: name }]);
    expect((await w.ok('copy', { source_path: name, dest_path: `folder/${name}` })).destination).toBe(`folder/${name}`);
    expect(await w.ok('move', { source_path: `folder/${name}`, dest_path: 'plain' })).toEqual({
      source: `folder/${name}`,
      destination: 'plain',
    });
    await w.ok('remove_file', { path: name });
    expect(w.tree()).toEqual(['folder/', 'plain']);
    expect(await w.fails('read_file', { path: name })).toContain('file not found: ');
  });

  test('a name or a path beyond what the system takes', async () => {
    for (const path of ['x'.repeat(256), 'ä'.repeat(128), `${'x/'.repeat(3_000)}y`]) {
      const read = await w.fails('read_file', { path });
      expect(read).toMatch(/too long|not found/);
      expect(read.length).toBeLessThan(8_000);
    }
    expect(await w.fails('write_file', { path: 'x'.repeat(256), content: '' })).toContain('too long');
    expect(w.tree()).toEqual([]);
  });

  test('deep folders', async () => {
    const path = `${'d/'.repeat(200)}f.txt`;
    await w.ok('write_file', { path, content: 'needle' });
    expect((await w.ok('read_file', { path })).content).toBe('needle');
    expect((await w.ok('grep', { pattern: 'needle' })).matches).toMatchObject([{ file: path }]);
    await w.ok('remove_folder', { path: 'd' });
    expect(w.tree()).toEqual([]);
  });

  test('a path that no file name can hold is refused', async () => {
    expect(await w.fails('read_file', { path: 'a\ud800' })).toContain('is not valid Unicode');
  });
});
