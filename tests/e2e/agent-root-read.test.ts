import { expect, test } from 'vitest';
import { type AgentServer, secret, withAgentRoot } from '../support/agent-server.ts';
import { Held, json } from '../support/sampling-client.ts';

const OLD = '2026-01-01T00:00:00.000Z';
const NEW = '2026-02-01T00:00:00.000Z';

function reading(s: AgentServer) {
  return (path: string) => s.ok('read_file', { root: 'laptop', path });
}

withAgentRoot({}, (s) => {
  const read = reading(s);

  test('filesystem-interaction/Read file content: one request that names the path brings the content', async () => {
    s.answerFile(secret('é\r\n'));
    const { asked, result } = await s.agent.askedBy(() => read('docs/deep/one file.md'));
    expect(result).toMatchObject({
      content: secret('é\r\n'),
      encoding: 'utf-8',
      size: Buffer.byteLength(secret('é\r\n')),
      truncated: false,
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.prompt).toContain('docs/deep/one file.md');
    expect(asked[0]?.prompt).not.toContain(s.base);
    expect(asked[0]?.params.maxTokens).toBeGreaterThan(0);
  });

  test('filesystem-interaction/Read file content: the client may hand the file over with guide_cache_file', async () => {
    const path = 'docs/handed.md';
    s.answer(async () => {
      await s.ok('guide_cache_file', { path, content: secret('handed over') });
      return 'The file is in the cache now.';
    });
    const { asked, result } = await s.agent.askedBy(() => read(path));
    expect(result.content).toBe(secret('handed over'));
    expect(asked).toHaveLength(1);
    expect(await s.requests(() => read(path))).toBe(0);
  });

  test('filesystem-interaction/Cache miss; filesystem-interaction/Cache hit: what was asked for once is not asked for again, and both are counted', async () => {
    const before = (await s.ok('guide_cache_file', { path: 'docs/stats.md', content: '1' })).stats;
    s.answerFile(secret('hit'));
    expect(await s.requests(() => read('docs/hit.md'))).toBe(1);
    const missed = (await s.ok('guide_cache_file', { path: 'docs/stats.md', content: '2' })).stats;
    expect(missed).toMatchObject({ misses: before.misses + 1, hits: before.hits });
    for (const again of ['docs/hit.md', './docs//hit.md', 'docs/x/../hit.md']) {
      expect(await s.requests(async () => expect((await read(again)).content).toBe(secret('hit')))).toBe(0);
    }
    const hit = (await s.ok('guide_cache_file', { path: 'docs/stats.md', content: '3' })).stats;
    expect(hit).toMatchObject({ misses: missed.misses, hits: missed.hits + 3 });
  });

  test('filesystem-interaction/Cache invalidation by modification time: a newer time in a listing has the file asked for again', async () => {
    const path = 'docs/aging/file.md';
    const listed = (mtime: string) =>
      s.ok('guide_list_directory', { path: 'docs/aging', entries: [{ name: 'file.md', type: 'file', mtime }] });
    s.answer(json({ content: secret('old'), mtime: OLD }));
    await read(path);
    await listed(OLD);
    expect(await s.requests(() => read(path))).toBe(0);
    await listed(NEW);
    s.answer(json({ content: secret('new'), mtime: NEW }));
    expect(await s.requests(async () => expect((await read(path)).content).toBe(secret('new')))).toBe(1);
    expect(await s.requests(async () => expect((await read(path)).content).toBe(secret('new')))).toBe(0);
  });

  test('concurrent reads of one path share one answer', async () => {
    const held = new Held();
    s.answer(held.script);
    const before = s.agent.asked.length;
    const reads = Promise.all([read('docs/shared.md'), read('./docs/shared.md'), read('docs/shared.md')]);
    await held.arrived;
    held.release(json({ content: secret('shared') }));
    expect((await reads).map(({ content }) => content)).toEqual(Array(3).fill(secret('shared')));
    expect(await s.requests(() => read('docs/shared.md'))).toBe(0);
    expect(s.agent.asked.length - before).toBe(1);
  });

  test('filesystem-interaction/Read binary file: base64 comes as the bytes that it stands for', async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80, 10]);
    s.answer(json({ content: bytes.toString('base64'), encoding: 'base64' }));
    const result = await read('docs/image.png');
    expect(result).toMatchObject({ encoding: 'base64', binary: true, size: bytes.length });
    expect(Buffer.from(result.content, 'base64')).toEqual(bytes);
  });

  test('parts of a file are taken from what is cached', async () => {
    s.answerFile('one\ntwo\nthree\n');
    await read('docs/lines.txt');
    const asked = await s.requests(async () => {
      const part = await s.ok('read_file', { root: 'laptop', path: 'docs/lines.txt', offset_lines: 2, limit_lines: 1 });
      expect(part).toMatchObject({ content: 'two\n', truncated: true, lines_total: 3 });
      const bytes = await s.ok('read_file', {
        root: 'laptop',
        path: 'docs/lines.txt',
        offset_bytes: 4,
        limit_bytes: 3,
      });
      expect(bytes).toMatchObject({ content: 'two', truncated: true });
    });
    expect(asked).toBe(0);
  });

  test('an empty file is a file', async () => {
    s.answerFile('');
    expect(await read('docs/empty')).toMatchObject({ content: '', size: 0 });
    expect(await s.requests(() => read('docs/empty'))).toBe(0);
  });

  test('filesystem-interaction/Allowed path access: every allowed folder, and no other, is asked for', async () => {
    s.answerFile('x');
    expect(await s.requests(() => read('src/a.ts'))).toBe(1);
    expect(await s.requests(() => s.fails('read_file', { root: 'laptop', path: 'tests/a.ts' }))).toBe(0);
    expect(await s.requests(() => s.fails('read_file', { root: 'laptop', path: 'a.ts' }))).toBe(0);
  });

  test('filesystem-interaction/Allowed path access: an allowed file may be read, and nothing that begins like it', async () => {
    s.answerFile('x');
    expect(await s.requests(() => read('README.md'))).toBe(1);
    expect(await s.requests(() => s.fails('read_file', { root: 'laptop', path: 'README.md.bak' }))).toBe(0);
  });
});
