import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot } from '../support/agent-server.ts';
import { json } from '../support/sampling-client.ts';

const READERS: readonly [string, object][] = [
  ['read_file', {}],
  ['stat_file', {}],
  ['hash_file', { algorithm: 'sha256' }],
  ['list_folder', {}],
];

withAgentRoot({}, (s) => {
  const read = (path: string) => s.ok('read_file', { root: 'laptop', path });
  const readFails = (path: string) => s.fails('read_file', { root: 'laptop', path });

  test('filesystem-interaction/File not found: the caller is told so, and nothing is cached', async () => {
    s.answer(json({ error: 'not_found' }));
    expect(await readFails('docs/late.md')).toBe('file not found: docs/late.md (root: laptop)');
    s.answerFile(secret('there now'));
    expect(await s.requests(async () => expect((await read('docs/late.md')).content).toBe(secret('there now')))).toBe(
      1,
    );
  });

  test('filesystem-interaction/Permission denied: the caller is told so, the log has it, and nothing is cached', async () => {
    s.answer(json({ error: 'permission_denied' }));
    expect(await readFails('docs/locked.md')).toMatch(/^permission denied: docs\/locked\.md .*root: laptop/);
    await s.server.waitForLog(({ path, code }) => path === 'docs/locked.md' && code === 'permission_denied');
    s.answerFile('open now');
    expect(await s.requests(() => read('docs/locked.md'))).toBe(1);
  });

  test('a folder that is not there, or may not be listed, is an error too', async () => {
    s.answer(json({ error: 'not_found' }));
    expect(await s.fails('list_folder', { root: 'laptop', path: 'docs/nowhere' })).toMatch(/not found.*docs\/nowhere/);
    s.answer(json({ error: 'permission_denied' }));
    expect(await s.fails('list_folder', { root: 'laptop', path: 'docs/closed' })).toMatch(
      /permission denied.*docs\/closed/,
    );
  });

  describe('filesystem-interaction/Disallowed path access; filesystem-interaction/Path traversal prevention: nothing is asked for', () => {
    test.each([
      '../x',
      'docs/../../x',
      'docs/../x',
      '/etc/passwd',
      'docsX/a',
      'docs\\..\\..\\x',
      'docs\\..\\x',
      'docs/a\0b',
      'C:\\x',
      'file:///docs/x',
      'docs/./../..',
      'docs/..',
      'tests/a.ts',
      '.git/config',
      '~/x',
    ])('%j', async (path) => {
      s.answerFile('x');
      const asked = await s.requests(async () => {
        for (const [tool, more] of READERS) {
          const text = await s.fails(tool, { root: 'laptop', path, ...more });
          expect([tool, text]).toEqual([tool, expect.stringMatching(/outside|allowed|invalid path|null|character/)]);
        }
        const copy = { source_root: 'laptop', source_path: path, dest_root: 'workspace', dest_path: 'stolen' };
        await s.fails('copy', copy);
      });
      expect(asked).toBe(0);
      const line = await s.server.waitForLog(
        ({ tool, attempted_path, level }) => tool === 'read_file' && attempted_path === path && level === 'warn',
      );
      expect(line).toMatchObject({ outcome: 'error', root: 'laptop' });
    });
  });

  test('filesystem-interaction/Path traversal prevention: dots that are only part of a name are asked for as they are', async () => {
    for (const path of ['docs/%2e%2e/x', 'docs/．．/x', 'docs/..a', 'docs/a..b']) {
      s.answerFile(secret(path));
      const { asked } = await s.agent.askedBy(() => read(path));
      expect(asked[0]?.prompt).toContain(path);
    }
  });

  test('filesystem-interaction/Disallowed path access: the refusal says which folders are allowed', async () => {
    const text = await readFails('private/a.md');
    expect(text).toContain('private/a.md');
    expect(text).toContain('docs');
    expect(text).toContain('src');
  });
});

describe('a time limit of a second', () => {
  withAgentRoot({ agent: { timeout: 1 } }, (s, { era }) => {
    test('filesystem-interaction/Sampling request timeout: late answers are discarded and the cache is left alone', async () => {
      const path = 'docs/slow.md';
      let answered = Promise.resolve();
      s.answer(async () => {
        const late = delay(1_600);
        answered = late;
        await late;
        return json({ content: secret('too late') });
      });
      expect(await s.fails('read_file', { root: 'laptop', path })).toMatch(/tim(?:ed|e) ?out.*docs\/slow\.md/i);
      await answered;
      await delay(era === 'legacy' ? 100 : 0);
      s.answerFile(secret('in time'));
      const { asked, result } = await s.agent.askedBy(() => s.ok('read_file', { root: 'laptop', path }));
      expect(asked).toHaveLength(1);
      expect(result.content).toBe(secret('in time'));
    });

    test('a client that refuses ends the call with an error, not the connection', async () => {
      s.answer(() => {
        throw new Error('the user said no');
      });
      const refused = s.agent.call('read_file', { root: 'laptop', path: 'docs/no.md' });
      // In 2026-07-28 the client itself gives up the call, and the server never hears of it.
      if (era === 'modern') await expect(refused).rejects.toThrow();
      else expect(await refused).toMatchObject({ isError: true, text: expect.stringContaining('docs/no.md') });
      s.answerFile('yes');
      expect((await s.ok('read_file', { root: 'laptop', path: 'docs/no.md' })).content).toBe('yes');
    });
  });
});

describe('a client that declares no sampling', () => {
  withAgentRoot({ declares: 'none' }, (s) => {
    test('filesystem-interaction/Unsupported client fallback: the error says so and names what to do instead, which works', async () => {
      const args = { root: 'laptop', path: 'docs/a.md' };
      for (const [tool, more] of READERS) {
        const text = await s.fails(tool, { ...args, ...more });
        expect([tool, text]).toEqual([tool, expect.stringMatching(/sampling/i)]);
        expect([tool, text]).toEqual([tool, expect.stringMatching(/guide_(?:cache_file|list_directory)/)]);
        expect([tool, text]).toEqual([tool, expect.stringMatching(/resource/i)]);
      }
      await s.ok('guide_cache_file', { path: 'docs/a.md', content: secret('by hand') });
      expect((await s.ok('read_file', args)).content).toBe(secret('by hand'));
    });
  });
});
