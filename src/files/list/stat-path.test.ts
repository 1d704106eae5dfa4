import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../../fence/sandbox.fixture.ts';
import { statPath } from './stat-path.ts';

const stat = ({ root }: Sandbox, raw: string) => statPath(root, parseCallerPath(raw));

onEveryBackend((open) => {
  test('files, folders and the root have no target', () => {
    using box = open();
    box.file('d/f', '12345');
    expect(stat(box, 'd/f')).toEqual({ stats: expect.objectContaining({ size: 5 }) });
    expect(stat(box, 'd').stats.isDirectory()).toBe(true);
    expect(stat(box, '.').stats.isDirectory()).toBe(true);
    expect(stat(box, 'd')).not.toHaveProperty('target');
  });

  test('a link has its own stats, and the stats and path of its target', () => {
    using box = open();
    box.file('d/f', '12345');
    box.link('../d/f', 'links/l');
    box.link('l', 'links/ll');
    box.link('..', 'links/up');
    const { stats, target } = stat(box, 'links/ll');
    expect([stats.isSymbolicLink(), stats.size]).toEqual([true, 1]);
    expect(target).toMatchObject({ path: 'd/f', stats: { size: 5 } });
    expect(stat(box, 'links/up').target?.stats.isDirectory()).toBe(true);
  });

  test('a dangling link of any kind has a null target', () => {
    using box = open();
    box.file('f');
    box.link('none', 'dangling');
    box.link('no/ne/at/all', 'deep');
    box.link('f/x', 'through-file');
    for (const name of ['dangling', 'deep', 'through-file'])
      expect([name, stat(box, name).target]).toEqual([name, null]);
  });

  test('an outward link and a link loop are refused', async () => {
    using box = open();
    box.link('../outside/secret', 'out');
    box.link('/none', 'nowhere');
    box.link('out', 'chain');
    box.link('b', 'a');
    box.link('a', 'b');
    for (const raw of ['out', 'nowhere', 'chain']) expect(await outcome(() => stat(box, raw))).toBe('outside_root');
    expect(await outcome(() => stat(box, 'a'))).toBe('link_loop');
  });

  test('a missing entry raises not_found with its path', async () => {
    using box = open();
    expect(await outcome(() => stat(box, 'none'))).toBe('not_found');
    expect(() => stat(box, 'no/ne')).toThrow(expect.objectContaining({ path: 'no/ne', root: 'workspace' }));
  });
});
