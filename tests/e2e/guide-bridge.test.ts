import { describe, expect, test } from 'vitest';
import { type BridgeError, PathValidator, SecurityPolicy } from '../../src/index.ts';
import { secret, withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

const PATHS = [
  'docs/a.md',
  './docs//b/../a.md',
  'docs',
  'docs/..a',
  'docs/%2e%2e/x',
  'docs\\a.md',
  'tests/a.ts',
  'docsX/a.md',
  'docs/../private',
  'docs\\..\\private',
  '../x',
  '/etc/passwd',
  'C:\\x',
  'file:///x',
  '',
  '.',
  'docs/a\0b',
];

/** What a policy makes of a path: the normalised path, or the kind of failure. */
function verdict(policy: SecurityPolicy, path: string): string {
  try {
    return new PathValidator(policy).validate(path);
  } catch (error) {
    return (error as BridgeError).errorType;
  }
}

withAgentRoot({ connections: TWO_CONNECTIONS }, (s) => {
  test('filesystem-tools/Cache synchronization: the tools and the root share one cache and one count', async () => {
    const path = 'docs/synchronised.md';
    s.answerFile(secret('asked for'));
    await s.ok('read_file', { root: 'laptop', path });
    const updated = await s.ok('guide_cache_file', { path, content: secret('handed over') });
    expect(updated.data.status).toBe('updated');
    expect((await s.ok('read_file', { root: 'laptop', path })).content).toBe(secret('handed over'));
    const after = await s.ok('guide_read_file', { path, content: secret('again') });
    expect(after.stats.hits).toBe(updated.stats.hits + 1);
    expect(after.stats.entries).toBe(updated.stats.entries);
    expect(after.stats.updates).toBe(updated.stats.updates + 1);
  });

  test('filesystem-tools/Security policy consistency: tools, root and library agree on every path', async () => {
    const policy = new SecurityPolicy({ remote: true, allowedPaths: ['docs/', 'src/'] });
    s.answerFile('x');
    for (const path of PATHS) {
      const { isError, text } = await s.call('guide_cache_file', { path, content: 'x' });
      const result = JSON.parse(text);
      const expected = verdict(policy, path);
      if (isError) {
        expect([path, result.error_type === 'validation' ? 'security' : result.error_type]).toEqual([path, expected]);
        expect(await s.requests(() => s.fails('read_file', { root: 'laptop', path }))).toBe(0);
      } else {
        expect([path, result.data.cache_key]).toEqual([path, expected]);
        expect((await s.ok('read_file', { root: 'laptop', path })).content).toBe('x');
      }
    }
  });
});

withGuide({}, (g) => {
  describe('filesystem-tools/Path validation on every call', () => {
    test.each([
      '../x',
      'docs/../../x',
      '/etc/passwd',
      'docsX/a',
      'docs\\..\\..\\x',
      'C:\\x',
      'file:///x',
      'docs/./../..',
      '~/x',
    ])('%j is refused by every tool, and logged', async (path) => {
      const before = (await g.ok('guide_cache_file', { path: 'docs/same.md', content: 'x' })).stats;
      const calls: [string, object][] = [
        ['guide_cache_file', { path, content: 'x' }],
        [
          'guide_cache_file',
          {
            files: [
              { path: 'docs/fine.md', content: 'x' },
              { path, content: 'x' },
            ],
          },
        ],
        ['guide_list_directory', { path, entries: [] }],
        ['guide_read_file', { path, content: 'x' }],
        ['guide_read_file', { path, content: 'x', chunk: { index: 0, total: 2 } }],
      ];
      for (const [tool, args] of calls) {
        const result = await g.fails(tool, args as never);
        expect([tool, result.error_type]).toEqual([tool, 'security']);
        expect(result.stats).toMatchObject({ entries: before.entries, bytes: before.bytes });
        await g.server.waitForLog(
          (line) => line.level === 'warn' && line.tool === tool && line.attempted_path === path,
        );
      }
      await expect(g.resource(path)).rejects.toThrow();
    });
  });

  test('filesystem-tools/Error handling consistency: one failure has one kind and one wording, whichever tool meets it', async () => {
    const failures = [
      await g.fails('guide_cache_file', { path: 'private/x', content: 'x' }),
      await g.fails('guide_list_directory', { path: 'private/x', entries: [] }),
      await g.fails('guide_read_file', { path: 'private/x', content: 'x' }),
    ];
    const [first] = failures;
    for (const { error, error_type, instruction } of failures) {
      expect({ error, error_type, instruction }).toEqual({
        error: first.error,
        error_type: first.error_type,
        instruction: first.instruction,
      });
    }
    let library: Partial<BridgeError> = {};
    try {
      new PathValidator(new SecurityPolicy({ remote: true })).validate('private/x');
    } catch (error) {
      library = error as BridgeError;
    }
    expect(library).toMatchObject({ errorType: first.error_type, message: first.error });
  });

  test('what is cached is listed as resources, and reading them counts', async () => {
    await g.ok('guide_cache_file', { path: 'docs/resource é.md', content: secret('resource') });
    const before = (await g.ok('guide_cache_file', { path: 'docs/same.md', content: 'x' })).stats;
    const { resources } = await g.agent.client.listResources();
    const listed = resources.find(({ uri }) => decodeURIComponent(uri) === 'agent://docs/resource é.md');
    expect(listed).toBeDefined();
    const { contents } = await g.agent.client.readResource({ uri: listed?.uri ?? '' });
    expect(contents[0]).toMatchObject({ text: secret('resource') });
    await expect(g.resource('docs/nothing.md')).rejects.toThrow();
    const after = (await g.ok('guide_cache_file', { path: 'docs/same.md', content: 'x' })).stats;
    expect(after).toMatchObject({ hits: before.hits + 1, misses: before.misses + 1 });
  });
});
