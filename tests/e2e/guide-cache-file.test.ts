import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

const MTIME = '2026-01-01T00:00:00.000Z';

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

withGuide({}, (g) => {
  test('filesystem-tools/Cache single file; filesystem-interaction/guide_cache_file tool: it can be read back', async () => {
    const content = secret('single é');
    const result = await g.ok('guide_cache_file', { path: './docs//x/../single.md', content });
    expect(result.data).toMatchObject({
      cache_key: 'docs/single.md',
      status: 'created',
      size: Buffer.byteLength(content),
      content_hash: expect.stringContaining(sha256(content)),
      metadata: { size: Buffer.byteLength(content) },
      evicted: { entries: 0, bytes: 0 },
    });
    expect(result.data.metadata.encoding).toMatch(/^utf-?8$/i);
    expect(result.stats).toMatchObject({ entries: expect.any(Number), bytes: expect.any(Number) });
    expect(await g.resource('docs/single.md')).toBe(content);
  });

  test('filesystem-tools/Cache with metadata: what came with the file comes back', async () => {
    const content = secret('metadata');
    const size = Buffer.byteLength(content);
    const args = { path: 'docs/metadata.md', content, mtime: MTIME, encoding: 'utf-8', size };
    const { data } = await g.ok('guide_cache_file', args);
    expect(data.metadata).toMatchObject({ mtime: MTIME, encoding: 'utf-8', size });
  });

  test('filesystem-interaction/Cache file content: statistics go with what is stored', async () => {
    const stats = async (path: string, content: string) => (await g.ok('guide_cache_file', { path, content })).stats;
    const before = await stats('docs/counted/first.md', 'first');
    const after = await stats('docs/counted/second.md', 'second');
    expect(after.entries).toBe(before.entries + 1);
    expect(after.bytes).toBeGreaterThanOrEqual(before.bytes + 'second'.length);
    expect(after.updates).toBe(before.updates);
  });

  test('filesystem-tools/Overwrite existing cache entry: the new content is there, and the update is counted', async () => {
    const path = 'docs/overwritten.md';
    const first = await g.ok('guide_cache_file', { path, content: secret('first'), mtime: MTIME });
    const mtime = '2026-03-01T00:00:00.000Z';
    const second = await g.ok('guide_cache_file', { path: './docs/overwritten.md', content: secret('2'), mtime });
    expect(second.data).toMatchObject({ cache_key: path, status: 'updated', metadata: { mtime } });
    expect(second.stats).toMatchObject({ entries: first.stats.entries, updates: first.stats.updates + 1 });
    expect(await g.resource(path)).toBe(secret('2'));
  });

  test('filesystem-tools/Security policy violation; filesystem-interaction/guide_cache_file tool: refused, logged and not cached', async () => {
    const before = (await g.ok('guide_cache_file', { path: 'docs/v.md', content: 'v' })).stats;
    const path = 'private/violation.md';
    const result = await g.fails('guide_cache_file', { path, content: secret('violation') });
    expect(result).toMatchObject({ error_type: 'security', error: expect.stringContaining(path) });
    expect(result.instruction).toMatch(/docs/);
    expect(result.stats.entries).toBe(before.entries);
    await expect(g.resource(path)).rejects.toThrow();
    const line = await g.server.waitForLog(({ level, attempted_path }) => level === 'warn' && attempted_path === path);
    expect(line).toMatchObject({ tool: 'guide_cache_file', outcome: 'error' });
  });

  describe('filesystem-interaction/Batch file caching', () => {
    test('all files are stored, and what they came to is told', async () => {
      const files = [
        { path: 'docs/batch/a.md', content: secret('a') },
        { path: 'src/batch/b.ts', content: secret('bb'), mtime: MTIME },
      ];
      const { data } = await g.ok('guide_cache_file', { files });
      expect(data).toMatchObject({
        count: 2,
        total_bytes: Buffer.byteLength(secret('a') + secret('bb')),
        evicted: { entries: 0, bytes: 0 },
        files: [
          { cache_key: 'docs/batch/a.md', status: 'created' },
          { cache_key: 'src/batch/b.ts', status: 'created', metadata: { mtime: MTIME } },
        ],
      });
      for (const { path, content } of files) expect(await g.resource(path)).toBe(content);
    });

    test.each([
      ['a path that is not allowed', { path: 'private/c.md', content: 'c' }, 'security'],
      ['a path that leads out', { path: 'docs/../../c.md', content: 'c' }, 'security'],
      ['content that is no base64', { path: 'docs/rolled/c.md', content: '***', encoding: 'base64' }, 'validation'],
      [
        'an encoding that there is not',
        { path: 'docs/rolled/c.md', content: 'c', encoding: 'klingon' },
        expect.any(String),
      ],
      ['a file without content', { path: 'docs/rolled/c.md' }, 'validation'],
    ])('nothing is stored for %s, wherever it stands', async (_, bad, error_type) => {
      await g.ok('guide_cache_file', { path: 'docs/rolled/kept.md', content: secret('kept') });
      const kept = { path: 'docs/rolled/kept.md', content: secret('changed') };
      const fresh = { path: 'docs/rolled/fresh.md', content: secret('fresh') };
      for (const files of [
        [bad, kept, fresh],
        [kept, bad, fresh],
        [kept, fresh, bad],
      ]) {
        const result = await g.fails('guide_cache_file', { files });
        expect(result).toMatchObject({ error_type });
      }
      expect(await g.resource('docs/rolled/kept.md')).toBe(secret('kept'));
      await expect(g.resource('docs/rolled/fresh.md')).rejects.toThrow();
    });

    test('invalid base64 is called that, with the argument and the file of the batch', async () => {
      const good = { path: 'docs/good.md', content: secret('good') };
      const bad = { path: 'docs/bad.bin', content: 'AAEC*', encoding: 'base64' };
      const { error, error_type, instruction } = await g.fails('guide_cache_file', { files: [good, bad] });
      expect(error).toBe('files.1.content does not fit its encoding: it is not valid base64: docs/bad.bin');
      expect([error_type, instruction]).toEqual(['validation', expect.stringContaining('padded')]);
      const { error: single } = await g.fails('guide_cache_file', bad);
      expect(single).toBe('content does not fit its encoding: it is not valid base64: docs/bad.bin');
    });

    test('both one file and several, or neither, is a mistake that is named', async () => {
      const both = { path: 'docs/a.md', content: 'a', files: [{ path: 'docs/b.md', content: 'b' }] };
      expect(await g.fails('guide_cache_file', both)).toMatchObject({
        error_type: 'validation',
        error: expect.stringContaining('files'),
      });
      expect(await g.fails('guide_cache_file', {})).toMatchObject({
        error_type: 'validation',
        error: expect.stringContaining('path'),
      });
      expect(await g.fails('guide_cache_file', { files: [] })).toMatchObject({
        error_type: 'validation',
        error: expect.stringContaining('files'),
      });
    });
  });
});

describe('a cache of 1,000 bytes', () => {
  withAgentRoot({ connections: TWO_CONNECTIONS, agent: { cache_bytes: 1_000 } }, (s) => {
    const put = (name: string, bytes: number) =>
      s.ok('guide_cache_file', { path: `docs/${name}`, content: name.slice(0, 1).repeat(bytes) });
    const asks = (name: string) =>
      s.requests(async () => {
        s.answerFile('fresh');
        await s.ok('read_file', { root: 'laptop', path: `docs/${name}` });
      });

    test('filesystem-tools/Cache size limit exceeded; filesystem-interaction/Cache size management: the least recently used give way', async () => {
      await put('a', 300);
      await put('b', 300);
      await put('c', 300);
      // Reading makes it the last to go.
      expect(await asks('a')).toBe(0);
      const { data, stats } = await put('d', 300);
      expect(data).toMatchObject({ status: 'created', evicted: { entries: 1 } });
      expect(data.evicted.bytes).toBeGreaterThanOrEqual(300);
      expect(stats.bytes).toBeLessThanOrEqual(1_000);
      expect(stats.evictions).toBe(1);
      expect(await asks('a')).toBe(0);
      // As many go as it takes.
      const more = await put('e', 650);
      expect(more.data.evicted).toEqual({ entries: 2, bytes: 600 });
      expect(more.stats).toMatchObject({ entries: 2, bytes: 950, evictions: 3 });
      for (const kept of ['a', 'e']) expect([kept, await asks(kept)]).toEqual([kept, 0]);
      for (const gone of ['b', 'c', 'd']) expect([gone, await asks(gone)]).toEqual([gone, 1]);
    });

    test('filesystem-tools/Cache size limit exceeded: what is larger than the cache is refused, and nothing gives way to it', async () => {
      await put('kept', 100);
      const result = await s.fails('guide_cache_file', { path: 'docs/huge', content: 'h'.repeat(1_001) });
      expect(result.error).toMatch(/1[,.]?00[01]|1\.0KB/);
      expect(await asks('kept')).toBe(0);
    });

    test('a batch that is larger than the cache is refused whole', async () => {
      await put('before', 100);
      const files = ['x', 'y', 'z'].map((name) => ({ path: `docs/${name}`, content: name.repeat(400) }));
      await s.fails('guide_cache_file', { files });
      expect(await asks('before')).toBe(0);
      for (const { path } of files) expect(await asks(path.slice('docs/'.length))).toBe(1);
    });
  });
});
