import { describe, expect, test } from 'vitest';
import { withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

const ENTRY = { name: 'a.md', type: 'file' };

/** Tool, arguments, the field that is wrong, what the message says was expected, and what came. */
const MISSING: [string, object, string][] = [
  ['guide_cache_file', { content: 'x' }, 'path'],
  ['guide_cache_file', { path: 'docs/a.md' }, 'content'],
  ['guide_cache_file', { files: [{ path: 'docs/a.md' }] }, 'files.0.content'],
  ['guide_cache_file', { files: [{ path: 'docs/a.md', content: '' }, { content: 'x' }] }, 'files.1.path'],
  ['guide_list_directory', { entries: [] }, 'path'],
  ['guide_list_directory', { path: 'docs' }, 'entries'],
  ['guide_list_directory', { path: 'docs', entries: [{ type: 'file' }] }, 'entries.0.name'],
  ['guide_list_directory', { path: 'docs', entries: [{ name: 'a' }] }, 'entries.0.type'],
  ['guide_read_file', { content: 'x' }, 'path'],
  ['guide_read_file', { path: 'docs/a.md' }, 'content'],
  ['guide_read_file', { path: 'docs/a.md', content: 'x', chunk: { index: 0 } }, 'chunk.total'],
];

const WRONG: [string, object, string, RegExp, RegExp][] = [
  ['guide_cache_file', { path: 7, content: 'x' }, 'path', /string/, /7|number/],
  ['guide_cache_file', { path: 'docs/a.md', content: 7 }, 'content', /string/, /7|number/],
  ['guide_cache_file', { path: 'docs/a.md', content: null }, 'content', /string/, /null/],
  ['guide_cache_file', { path: 'docs/a.md', content: 'x', size: '1' }, 'size', /integer|number/, /"1"|string/],
  ['guide_cache_file', { path: 'docs/a.md', content: 'x', mtime: [] }, 'mtime', /string|number|time/, /list|array/],
  ['guide_cache_file', { files: 'docs/a.md' }, 'files', /list/, /docs\/a\.md|string/],
  ['guide_cache_file', { files: [7] }, 'files.0', /object/, /7|number/],
  ['guide_list_directory', { path: 'docs', entries: {} }, 'entries', /list/, /object/],
  [
    'guide_list_directory',
    { path: 'docs', entries: [{ ...ENTRY, size: 'big' }] },
    'entries.0.size',
    /integer|number/,
    /big|string/,
  ],
  [
    'guide_list_directory',
    { path: 'docs', entries: [{ ...ENTRY, type: 'x' }] },
    'entries.0.type',
    /file.*directory/,
    /x/,
  ],
  [
    'guide_list_directory',
    { path: 'docs', entries: [{ name: 'd', type: 'directory', children: [{ ...ENTRY, name: 3 }] }] },
    'entries.0.children.0.name',
    /string/,
    /3|number/,
  ],
  ['guide_list_directory', { path: 'docs', entries: [], pattern: 1 }, 'pattern', /string/, /1|number/],
  ['guide_read_file', { path: 'docs/a.md', content: 'x', binary: 'yes' }, 'binary', /true|boolean/, /yes|string/],
  ['guide_read_file', { path: 'docs/a.md', content: 'x', chunk: 1 }, 'chunk', /object/, /1|number/],
  [
    'guide_read_file',
    { path: 'docs/a.md', content: 'x', chunk: { index: '0', total: 2 } },
    'chunk.index',
    /integer|number/,
    /"0"|string/,
  ],
];

withGuide({ connections: TWO_CONNECTIONS }, (g) => {
  const entries = async () => (await g.ok('guide_cache_file', { path: 'docs/same', content: '' })).stats.entries;

  test.each(MISSING)(
    'filesystem-tools/Required arguments validation: %s with %j lacks %s',
    async (tool, args, field) => {
      const before = await entries();
      const result = await g.fails(tool, args as never);
      expect(result.error_type).toBe('validation');
      expect(result.error).toContain(field);
      expect(result.error).toMatch(/required|missing/);
      expect(result.instruction).toMatch(/\S/);
      expect(await entries()).toBe(before);
    },
  );

  test.each(WRONG)(
    'filesystem-tools/Type validation: %s with %j says so of %s',
    async (tool, args, field, expected, got) => {
      const before = await entries();
      const result = await g.fails(tool, args as never);
      expect(result.error_type).toBe('validation');
      expect(result.error).toContain(field);
      expect(result.error).toMatch(expected);
      expect(result.error).toMatch(got);
      expect(result.error).not.toMatch(/Invalid input/);
      expect(await entries()).toBe(before);
    },
  );

  test('filesystem-tools/Type validation: an argument that there is not is named, with the one that was meant', async () => {
    const result = await g.fails('guide_cache_file', { path: 'docs/a.md', content: 'x', encodng: 'utf-8' });
    expect(result).toMatchObject({ error_type: 'validation', error: expect.stringMatching(/encodng.*encoding/) });
  });

  describe('filesystem-tools/Path format validation', () => {
    test.each(['docs/a\0b', 'docs/a\nb', 'docs/\u0007', 'docs/\ud800'])(
      '%j is refused by a rule that is named',
      async (path) => {
        const before = await entries();
        for (const [tool, more] of [
          ['guide_cache_file', { content: 'x' }],
          ['guide_list_directory', { entries: [] }],
          ['guide_read_file', { content: 'x' }],
        ] as const) {
          const result = await g.fails(tool, { path, ...more });
          expect(result.error_type).toMatch(/^(?:validation|security)$/);
          expect(`${result.error} ${result.instruction}`).toMatch(/character|NUL|null|control|unicode/i);
        }
        expect(await entries()).toBe(before);
      },
    );

    test('an empty path and one that is too long are refused', async () => {
      for (const path of ['', `docs/${'x'.repeat(10_000)}`]) {
        const result = await g.fails('guide_cache_file', { path, content: 'x' });
        expect(result.error.length).toBeLessThan(2_000);
      }
    });
  });

  describe('filesystem-tools/Success result with data', () => {
    test.each([
      [
        'guide_cache_file',
        { path: 'docs/s.md', content: 'x' },
        ['cache_key', 'status', 'size', 'content_hash', 'metadata', 'evicted'],
      ],
      [
        'guide_cache_file',
        { files: [{ path: 'docs/s.md', content: 'x' }] },
        ['files', 'count', 'total_bytes', 'evicted'],
      ],
      ['guide_list_directory', { path: 'docs/s', entries: [ENTRY] }, ['path', 'count', 'stored']],
      ['guide_read_file', { path: 'docs/s.md', content: 'x' }, ['path', 'complete', 'size', 'content_hash']],
      [
        'guide_read_file',
        { path: 'docs/c.md', content: 'x', chunk: { index: 0, total: 2 } },
        ['path', 'complete', 'received', 'total'],
      ],
    ])('%s %j', async (tool, args, fields) => {
      const result = await g.ok(tool, args);
      expect(Object.keys(result.data)).toEqual(expect.arrayContaining(fields));
      for (const figure of ['entries', 'bytes', 'hits', 'misses', 'updates', 'evictions']) {
        expect([figure, result.stats[figure]]).toEqual([figure, expect.any(Number)]);
      }
      if ('message' in result) expect(result.message).toMatch(/\S/);
    });
  });

  test('filesystem-tools/Failure result with error: what failed, of which kind, and what to do', async () => {
    const failures = [
      await g.fails('guide_cache_file', { path: 'private/x', content: 'x' }),
      await g.fails('guide_list_directory', { path: '../x', entries: [] }),
      await g.fails('guide_read_file', { path: 'docs/x', content: '***', binary: true }),
    ];
    expect(failures.map(({ error_type }) => error_type)).toEqual(['security', 'security', 'validation']);
    expect(new Set(failures.map(({ error }) => error)).size).toBe(3);
    for (const { instruction } of failures) expect(instruction.length).toBeGreaterThan(10);
  });
});

withAgentRoot({ connections: [{ transport: 'stdio', era: 'legacy' }] }, (s) => {
  test('filesystem-tools/Failure result with error: also where guide tools stand beside others', async () => {
    expect(await s.fails('guide_cache_file', {})).toMatchObject({ error_type: 'validation' });
    expect(await s.fails('guide_cache_file', { path: 'x', content: '' })).toMatchObject({ error_type: 'security' });
  });
});
