import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot } from '../support/agent-server.ts';
import { type Answer, cutOff, json, toolUse } from '../support/sampling-client.ts';

const TOOLS = ['guide_cache_file', 'guide_list_directory'];

withAgentRoot({}, (s) => {
  const read = (path: string) => s.ok('read_file', { root: 'laptop', path });
  const readFails = (path: string) => s.fails('read_file', { root: 'laptop', path });

  describe('filesystem-interaction/Read file content: every form of answer is understood', () => {
    const content = secret('line one\n"two"');
    test.each<[string, (path: string) => Answer]>([
      ['the JSON that is asked for', () => json({ content })],
      ['JSON with encoding and time', () => json({ content, encoding: 'utf-8', mtime: '2026-01-01T00:00:00.000Z' })],
      ['JSON in a list of blocks', () => [{ type: 'text', text: json({ content }) as string }]],
      ['plain text', () => content],
      ['a tool_use block', (path) => toolUse('guide_cache_file', { path, content })],
      [
        'a tool_use block after words',
        (path) => [{ type: 'text', text: 'Here it is.' }, toolUse('guide_cache_file', { path, content })],
      ],
      [
        'a tool_use block whose path is spelt otherwise',
        (path) => toolUse('guide_cache_file', { path: `./${path}`, content }),
      ],
      ['base64', () => json({ content: Buffer.from(content).toString('base64'), encoding: 'base64' })],
    ])('%s', async (name, answer) => {
      const path = `docs/forms/${name.replaceAll(' ', '-')}.md`;
      s.answer(answer(path));
      expect((await read(path)).content).toBe(content);
      expect(await s.requests(() => read(path))).toBe(0);
    });
  });

  test('tools are offered to a client that declares sampling.tools', async () => {
    s.answerFile('x');
    const { asked } = await s.agent.askedBy(() => read('docs/offered.md'));
    const offered = asked[0]?.params.tools?.map(({ name }) => name);
    expect(offered).toContain('guide_cache_file');
    expect(TOOLS).toEqual(expect.arrayContaining(offered?.filter((name) => name !== 'guide_read_file') ?? []));
  });

  describe('filesystem-interaction/List directory contents: every form of answer is understood', () => {
    const entries = [
      { name: 'b.md', type: 'file', size: 5 },
      { name: 'a', type: 'directory' },
    ];
    test.each<[string, (path: string) => Answer | Promise<Answer>]>([
      ['the JSON that is asked for', (path) => json({ path, entries })],
      ['a bare list', () => json(entries)],
      ['a tool_use block', (path) => toolUse('guide_list_directory', { path, entries })],
      [
        'a call of guide_list_directory',
        async (path) => {
          await s.ok('guide_list_directory', { path, entries });
          return 'Done.';
        },
      ],
    ])('%s', async (name, answer) => {
      const path = `docs/lists/${name.replaceAll(' ', '-')}`;
      s.answer(() => answer(path));
      const { asked, result } = await s.agent.askedBy(() => s.ok('list_folder', { root: 'laptop', path }));
      expect(result).toMatchObject({
        count: 2,
        entries: [
          { name: 'a', type: 'directory' },
          { name: 'b.md', type: 'file', size: 5 },
        ],
      });
      expect(asked).toHaveLength(1);
      expect(asked[0]?.prompt).toContain(path);
      expect(await s.requests(() => s.ok('list_folder', { root: 'laptop', path }))).toBe(0);
    });
  });

  describe('what is not an answer is an error, and nothing is cached', () => {
    test.each<[string, (path: string) => Answer]>([
      ['cut off by its token limit', () => cutOff('{"content":"half of')],
      ['cut off where it looks whole', () => cutOff(json({ content: 'half' }) as string)],
      [
        'cut off in a tool call',
        (path) => ({
          model: 'm',
          role: 'assistant',
          stopReason: 'maxTokens',
          content: toolUse('guide_cache_file', { path, content: 'half' }),
        }),
      ],
      ['the file of another path', () => toolUse('guide_cache_file', { path: 'docs/another.md', content: 'x' })],
      ['a file outside of the policy', () => toolUse('guide_cache_file', { path: '../../etc/passwd', content: 'x' })],
      ['base64 that is none', () => json({ content: '***', encoding: 'base64' })],
      ['an unknown encoding', () => json({ content: 'x', encoding: 'klingon' })],
      ['a call of some other tool', () => toolUse('rm_rf', { path: '/' })],
    ])('%s', async (name, answer) => {
      const path = `docs/none/${name.replaceAll(' ', '-')}.md`;
      s.answer(answer(path));
      expect(await readFails(path)).toContain(path);
      s.answerFile(secret('whole'));
      expect(await s.requests(async () => expect((await read(path)).content).toBe(secret('whole')))).toBe(1);
    });

    test.each<[string, (path: string) => Answer]>([
      ['names that lead out', (path) => json({ path, entries: [{ name: '../../x', type: 'file' }] })],
      ['names with slashes', (path) => json({ path, entries: [{ name: 'a/b', type: 'file' }] })],
      ['dots as names', (path) => json({ path, entries: [{ name: '..', type: 'directory' }] })],
      ['the listing of another folder', () => json({ path: 'src', entries: [] })],
      ['entries of no known type', (path) => json({ path, entries: [{ name: 'a', type: 'portal' }] })],
      ['words', () => 'There are two files there, I think.'],
      ['a listing cut off', (path) => cutOff(json({ path, entries: [] }) as string)],
    ])('%s', async (name, answer) => {
      const path = `docs/nolist/${name.replaceAll(' ', '-')}`;
      s.answer(answer(path));
      expect(await s.fails('list_folder', { root: 'laptop', path })).toContain(path);
      s.answer(json({ path, entries: [] }));
      expect(await s.requests(() => s.ok('list_folder', { root: 'laptop', path }))).toBe(1);
    });
  });
});

describe('a client that declares sampling alone', () => {
  withAgentRoot({ declares: 'sampling' }, (s) => {
    test('is offered no tools, and may answer in text', async () => {
      s.answerFile(secret('text'));
      const { asked, result } = await s.agent.askedBy(() => s.ok('read_file', { root: 'laptop', path: 'docs/a.md' }));
      expect(result.content).toBe(secret('text'));
      expect(asked[0]?.params.tools).toBeUndefined();
      expect(asked[0]?.params.toolChoice).toBeUndefined();
    });
  });
});
