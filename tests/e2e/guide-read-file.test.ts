import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot, withGuide } from '../support/agent-server.ts';
import { TWO_CONNECTIONS } from '../support/connections.ts';

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

const BYTES = Buffer.from(Array.from({ length: 1_024 }, (_, index) => (index * 7) % 256));

withGuide({}, (g) => {
  test('filesystem-tools/Read text file: stored, with the hash of what came', async () => {
    const content = secret('text é');
    const { data } = await g.ok('guide_read_file', { path: 'docs/text.md', content, sha256: sha256(content) });
    expect(data).toMatchObject({
      path: 'docs/text.md',
      complete: true,
      size: Buffer.byteLength(content),
      content_hash: expect.stringContaining(sha256(content)),
    });
    expect(await g.resource('docs/text.md')).toBe(content);
    const refused = await g.fails('guide_read_file', { path: 'etc/passwd', content });
    expect(refused.error_type).toBe('security');
  });

  test('filesystem-tools/Read binary file: every byte is kept', async () => {
    const args = { path: 'docs/bytes.bin', content: BYTES.toString('base64'), binary: true, sha256: sha256(BYTES) };
    const { data } = await g.ok('guide_read_file', args);
    expect(data).toMatchObject({
      complete: true,
      size: BYTES.length,
      content_hash: expect.stringContaining(sha256(BYTES)),
    });
    expect(await g.resource('docs/bytes.bin')).toEqual(BYTES);
  });

  test.each([
    ['no base64', { content: 'not base64!', binary: true }],
    ['base64 that breaks off', { content: 'QUJD=', binary: true }],
    ['a hash of something else', { content: 'x', sha256: sha256('y') }],
    ['a hash that is none', { content: 'x', sha256: 'abc' }],
  ])('filesystem-tools/Read binary file: %s is refused and changes nothing', async (_, args) => {
    await g.ok('guide_read_file', { path: 'docs/kept.bin', content: secret('kept') });
    const result = await g.fails('guide_read_file', { path: 'docs/kept.bin', ...args });
    expect(result.error_type).toBe('validation');
    expect(await g.resource('docs/kept.bin')).toBe(secret('kept'));
  });

  test('filesystem-tools/File encoding specification: text in an encoding is kept in it and read by it', async () => {
    const content = 'caf\u00e9';
    const args = { path: 'docs/latin1.txt', content, encoding: 'latin1' };
    expect((await g.ok('guide_read_file', args)).data.complete).toBe(true);
    expect(await g.resource('docs/latin1.txt')).toBe(content);
    const unknown = await g.fails('guide_read_file', { ...args, encoding: 'klingon' });
    expect(unknown.error_type).toMatch(/^(?:validation|unsupported)$/);
    expect(unknown.error).toContain('klingon');
  });

  describe('filesystem-tools/Large file handling', () => {
    const parts = [secret('one'), secret('two é'), secret('three')];
    const whole = parts.join('');
    const send = (path: string, index: number, more: object = {}) =>
      g.call('guide_read_file', { path, content: parts[index], chunk: { index, total: 3, ...more } });

    test('chunks in any order, some of them twice, become one file', async () => {
      const path = 'docs/chunks/disorder.md';
      expect((await send(path, 2)).structured.data).toMatchObject({ path, complete: false, received: 1, total: 3 });
      expect((await send(path, 2)).structured.data).toMatchObject({ complete: false, received: 1, total: 3 });
      expect((await send(path, 0)).structured.data).toMatchObject({ complete: false, received: 2, total: 3 });
      await expect(g.resource(path)).rejects.toThrow();
      expect((await send(path, 1)).structured.data).toMatchObject({
        path,
        complete: true,
        size: Buffer.byteLength(whole),
        content_hash: expect.stringContaining(sha256(whole)),
      });
      expect(await g.resource(path)).toBe(whole);
    });

    test('bytes are cut anywhere', async () => {
      const path = 'docs/chunks/bytes.bin';
      for (const [index, at] of [0, 500, 1_000].entries()) {
        const content = BYTES.subarray(at, at + 500).toString('base64');
        await g.ok('guide_read_file', {
          path,
          content,
          binary: true,
          chunk: { index, total: 3 },
          sha256: sha256(BYTES),
        });
      }
      expect(await g.resource(path)).toEqual(BYTES);
    });

    test('several files at once do not mix', async () => {
      for (const index of [0, 1, 2]) {
        await send('docs/chunks/left.md', index);
        await send('./docs/chunks/right.md', 2 - index);
      }
      expect(await g.resource('docs/chunks/left.md')).toBe(whole);
      expect(await g.resource('docs/chunks/right.md')).toBe(whole);
    });

    test('another total is a conflict, which harms nothing that came before', async () => {
      const path = 'docs/chunks/conflict.md';
      await send(path, 0);
      const result = await send(path, 1, { total: 4 });
      expect(JSON.parse(result.text)).toMatchObject({
        success: false,
        error_type: 'validation',
        error: expect.stringMatching(/total/),
      });
      await send(path, 1);
      expect((await send(path, 2)).structured.data.complete).toBe(true);
      expect(await g.resource(path)).toBe(whole);
    });

    test('a chunk whose hash does not fit is refused, and may be sent again', async () => {
      const path = 'docs/chunks/hash.md';
      const bad = await send(path, 0, { sha256: sha256('other') });
      expect(JSON.parse(bad.text)).toMatchObject({ success: false, error_type: 'validation' });
      expect((await send(path, 0, { sha256: sha256(parts[0] as string) })).structured.data.received).toBe(1);
    });

    test.each([
      ['an index past the end', { index: 3, total: 3 }],
      ['a negative index', { index: -1, total: 3 }],
      ['a total of nothing', { index: 0, total: 0 }],
      ['half an index', { index: 0.5, total: 3 }],
      ['a total beyond all bounds', { index: 0, total: 1e12 }],
    ])('%s is refused', async (_, chunk) => {
      const result = await g.fails('guide_read_file', { path: 'docs/chunks/index.md', content: 'x', chunk });
      expect(result).toMatchObject({ error_type: 'validation', error: expect.stringContaining('chunk') });
    });

    test('a path that is not allowed takes no chunks', async () => {
      expect(JSON.parse((await send('private/x.md', 0)).text)).toMatchObject({ error_type: 'security' });
    });
  });
});

describe('a cache of 1,000 bytes', () => {
  withAgentRoot({ connections: TWO_CONNECTIONS, agent: { cache_bytes: 1_000 } }, (s) => {
    test('filesystem-tools/Large file handling: chunks that cannot become a file of the cache are refused', async () => {
      const path = 'docs/too-large.md';
      const results = [];
      for (const index of [0, 1, 2]) {
        results.push(await s.call('guide_read_file', { path, content: 'x'.repeat(400), chunk: { index, total: 3 } }));
      }
      expect(results.at(-1)?.isError).toBe(true);
      s.answerFile('fresh');
      expect(await s.requests(() => s.ok('read_file', { root: 'laptop', path }))).toBe(1);
    });
  });
});

withAgentRoot({ connections: TWO_CONNECTIONS }, (s) => {
  test('filesystem-tools/Read text file; filesystem-tools/File encoding specification: what was handed over is what an agent root reads', async () => {
    await s.ok('guide_read_file', { path: 'docs/text.md', content: secret('text') });
    await s.ok('guide_read_file', { path: 'docs/latin1.txt', content: 'caf\u00e9', encoding: 'latin1' });
    const asked = await s.requests(async () => {
      expect((await s.ok('read_file', { root: 'laptop', path: 'docs/text.md' })).content).toBe(secret('text'));
      const { hash } = await s.ok('hash_file', { root: 'laptop', path: 'docs/latin1.txt', algorithm: 'sha256' });
      expect(hash).toBe(sha256(Buffer.from('caf\u00e9', 'latin1')));
    });
    expect(asked).toBe(0);
  });
});
