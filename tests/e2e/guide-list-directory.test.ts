import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

const MTIME = '2026-01-01T00:00:00.000Z';
const LATER = '2026-02-01T00:00:00.000Z';

withAgentRoot({ connections: TWO_CONNECTIONS }, (s) => {
  const list = (path: string) => s.ok('list_folder', { root: 'laptop', path });

  test('filesystem-tools/List directory contents: a listing is stored and answers list_folder', async () => {
    const entries = [
      { name: 'sub', type: 'directory' },
      { name: 'a.md', type: 'file', size: 3 },
    ];
    const result = await s.ok('guide_list_directory', { path: 'docs/listed', entries });
    expect(result.data).toMatchObject({ path: 'docs/listed', count: 2, stored: 2 });
    const asked = await s.requests(async () => {
      expect(await list('docs/listed/')).toMatchObject({
        count: 2,
        entries: [
          { name: 'a.md', type: 'file', size: 3 },
          { name: 'sub', type: 'directory' },
        ],
      });
    });
    expect(asked).toBe(0);
  });

  test('filesystem-tools/Include file metadata: size and time are known to later calls, and tell when a file has changed', async () => {
    const path = 'docs/meta/a.md';
    const listed = (mtime: string) =>
      s.ok('guide_list_directory', { path: 'docs/meta', entries: [{ name: 'a.md', type: 'file', size: 12, mtime }] });
    await listed(MTIME);
    s.answerFile('x');
    const asked = await s.requests(async () => {
      expect((await list('docs/meta')).entries).toMatchObject([
        { name: 'a.md', size: 12, modified_at: expect.stringMatching(/^2026-01-01T00:00:00/) },
      ]);
      expect(await s.ok('stat_file', { root: 'laptop', path })).toMatchObject({ size: 12 });
    });
    expect(asked).toBe(0);
    await s.ok('guide_cache_file', { path, content: secret('old'), mtime: MTIME });
    await listed(LATER);
    s.answerFile(secret('new'), { mtime: LATER });
    expect((await s.ok('read_file', { root: 'laptop', path })).content).toBe(secret('new'));
  });

  test('filesystem-tools/Recursive listing: every folder of the tree can be listed', async () => {
    const entries = [
      {
        name: 'a',
        type: 'directory',
        children: [
          { name: 'b', type: 'directory', children: [{ name: 'c.md', type: 'file', size: 1 }] },
          { name: 'empty', type: 'directory', children: [] },
        ],
      },
      { name: 'top.md', type: 'file' },
    ];
    const { data } = await s.ok('guide_list_directory', { path: 'docs/tree', entries });
    expect(data.count).toBe(5);
    const asked = await s.requests(async () => {
      const names = async (path: string) => (await list(path)).entries.map(({ name }: { name: string }) => name);
      expect(await names('docs/tree')).toEqual(['a', 'top.md']);
      expect(await names('docs/tree/a')).toEqual(['b', 'empty']);
      expect(await names('docs/tree/a/b')).toEqual(['c.md']);
      expect(await names('docs/tree/a/empty')).toEqual([]);
      expect(await s.ok('stat_file', { root: 'laptop', path: 'docs/tree/a/b/c.md' })).toMatchObject({ size: 1 });
    });
    expect(asked).toBe(0);
  });
});

withGuide({}, (g) => {
  const list = (args: object) => g.ok('guide_list_directory', { path: 'docs', ...args });
  const refused = (args: object) => g.fails('guide_list_directory', { path: 'docs', ...args });

  describe('filesystem-tools/List directory contents; filesystem-tools/Recursive listing: nothing of a listing is stored if', () => {
    test.each([
      ['its path is not allowed', { path: 'private', entries: [] }, 'security'],
      ['its path leads out', { path: 'docs/../..', entries: [] }, 'security'],
      ['a name leads out', { entries: [{ name: '../x', type: 'file' }] }, 'security'],
      ['a name is dots', { entries: [{ name: '..', type: 'directory' }] }, 'security'],
      ['a name has slashes', { entries: [{ name: 'a/../../x', type: 'file' }] }, 'security'],
      ['a name has backslashes', { entries: [{ name: 'a\\..\\..\\x', type: 'file' }] }, 'security'],
      ['a name is absolute', { entries: [{ name: '/etc/passwd', type: 'file' }] }, 'security'],
      ['a name is empty', { entries: [{ name: '', type: 'file' }] }, expect.any(String)],
      ['a name has a NUL', { entries: [{ name: 'a\0', type: 'file' }] }, expect.any(String)],
      [
        'a name deep in the tree leads out',
        {
          entries: [
            {
              name: 'a',
              type: 'directory',
              children: [{ name: 'b', type: 'directory', children: [{ name: '..', type: 'file' }] }],
            },
          ],
        },
        'security',
      ],
      ['a type is unknown', { entries: [{ name: 'a', type: 'portal' }] }, 'validation'],
      ['a file has children', { entries: [{ name: 'a', type: 'file', children: [] }] }, expect.any(String)],
      ['a size is negative', { entries: [{ name: 'a', type: 'file', size: -1 }] }, 'validation'],
      [
        'a name occurs twice',
        {
          entries: [
            { name: 'a', type: 'file' },
            { name: 'a', type: 'file' },
          ],
        },
        expect.any(String),
      ],
    ])('%s', async (_, args, error_type) => {
      const before = (await g.ok('guide_cache_file', { path: 'docs/same.md', content: 'same' })).stats.entries;
      const good = { name: 'good', type: 'file' };
      const result = await refused('path' in args ? args : { entries: [good, ...args.entries] });
      expect(result).toMatchObject({ error_type, stats: { entries: before } });
    });
  });

  describe('filesystem-tools/Filter by pattern', () => {
    const entries = [
      { name: 'a.md', type: 'file' },
      { name: 'b.ts', type: 'file' },
      { name: 'c.md', type: 'file' },
    ];

    test('only what matches is accepted, and what was left out is told', async () => {
      const result = await list({ path: 'docs/filtered', entries, pattern: '*.md' });
      expect(result.data).toEqual({ path: 'docs/filtered', count: 2, stored: 2 });
    });

    test('filesystem-tools/Partial success with warnings: the result says what was left out, in words and as a list', async () => {
      const { message, warnings, data } = await list({ path: 'docs/partial', entries, pattern: '*.md' });
      expect(data.stored).toBe(2);
      expect(warnings).toEqual([expect.stringContaining('b.ts')]);
      expect(message).toMatch(/warning|partial/i);
      const whole = await list({ path: 'docs/partial', entries: [entries[0]], pattern: '*.md' });
      expect(whole.warnings ?? []).toEqual([]);
    });

    test.each([
      '../*',
      '/etc/*',
      '**/../*',
      'a\0b',
      '[',
      `${'{a,b}'.repeat(20)}`,
      `${'**/'.repeat(201)}x`,
      'x'.repeat(100_000),
    ])('%j is refused as unsafe', async (pattern) => {
      const result = await refused({ entries, pattern });
      expect(result.error_type).toMatch(/^(?:validation|security)$/);
      expect(result.error).toMatch(/pattern/i);
      expect(JSON.stringify(result).length).toBeLessThan(5_000);
    });
  });
});
