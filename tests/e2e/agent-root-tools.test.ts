import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { secret, withAgentRoot } from '../support/agent-server.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { json } from '../support/sampling-client.ts';
import { tempDir } from '../support/temp-dir.ts';

const MTIME = '2026-01-01T00:00:00.000Z';
const ALLOWED = ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'];

withAgentRoot({}, (s) => {
  const laptop = (file: string) => ({ root: 'laptop', path: file });
  const copyTo = (source_path: string, dest_path: string) => ({
    source_root: 'laptop',
    source_path,
    dest_root: 'workspace',
    dest_path,
  });

  test('it is listed among the roots, with what it allows', async () => {
    const { roots } = await s.ok('list_roots');
    const found = roots.find(({ name }: { name: string }) => name === 'laptop');
    expect([...found.allowed_tools].sort()).toEqual([...ALLOWED].sort());
  });

  test.each(['md5', 'sha1', 'sha256'])('hash_file hashes the bytes that came, with %s', async (algorithm) => {
    const bytes = Buffer.from([0, 0xff, 1, 0xfe]);
    s.answer(json({ content: bytes.toString('base64'), encoding: 'base64' }));
    expect(await s.ok('hash_file', { ...laptop('docs/hashed.bin'), algorithm })).toEqual({
      path: 'docs/hashed.bin',
      algorithm,
      hash: createHash(algorithm).update(bytes).digest('hex'),
      size: 4,
    });
  });

  test('stat_file tells size and time of a file that was handed over', async () => {
    await s.ok('guide_cache_file', { path: 'docs/stat.md', content: secret('stat'), mtime: MTIME });
    const asked = await s.requests(async () => {
      expect(await s.ok('stat_file', laptop('docs/stat.md'))).toMatchObject({
        name: 'stat.md',
        path: 'docs/stat.md',
        size: Buffer.byteLength(secret('stat')),
        is_directory: false,
        is_symlink: false,
        modified_at: expect.stringMatching(/^2026-01-01T00:00:00/),
      });
    });
    expect(asked).toBe(0);
  });

  test('stat_file asks about what nobody has told it of', async () => {
    s.answer(({ prompt }) =>
      prompt.includes('docs/asked.md') && /"entries"/.test(prompt) === false
        ? json({ content: secret('asked'), mtime: MTIME })
        : json({
            path: 'docs',
            entries: [{ name: 'asked.md', type: 'file', size: Buffer.byteLength(secret('asked')), mtime: MTIME }],
          }),
    );
    expect(await s.ok('stat_file', laptop('docs/asked.md'))).toMatchObject({
      size: Buffer.byteLength(secret('asked')),
      is_directory: false,
    });
  });

  test('copy puts the bytes in a local root, in place of what was there', async () => {
    const bytes = Buffer.from([0, 0xff, 13, 10, 0xfe]);
    fs.writeFileSync(s.host('workspace/old.bin'), 'old');
    s.answer(json({ content: bytes.toString('base64'), encoding: 'base64' }));
    await s.ok('copy', copyTo('docs/copied.bin', 'old.bin'));
    expect(fs.readFileSync(s.host('workspace/old.bin'))).toEqual(bytes);
    expect(await s.requests(() => s.ok('copy', copyTo('docs/copied.bin', 'deep/new.bin')))).toBe(0);
    expect(fs.readFileSync(s.host('workspace/deep/new.bin'))).toEqual(bytes);
    expect(fs.readdirSync(s.host('workspace')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('copy leaves the destination alone where the file does not come', async () => {
    fs.writeFileSync(s.host('workspace/kept.md'), 'kept');
    s.answer(json({ error: 'not_found' }));
    expect(await s.fails('copy', copyTo('docs/gone.md', 'kept.md'))).toMatch(/not found/);
    expect(await s.fails('copy', copyTo('../gone.md', 'kept.md'))).toMatch(/\S/);
    expect(fs.readFileSync(s.host('workspace/kept.md'), 'utf8')).toBe('kept');
  });

  test('copy does not leave the local root by a link', async () => {
    const outside = s.host('outside');
    fs.mkdirSync(outside, { recursive: true });
    fs.symlinkSync(outside, s.host('workspace/way-out'));
    s.answerFile(secret('contained'));
    await s.fails('copy', copyTo('docs/contained.md', 'way-out/x.md'));
    await s.fails('copy', copyTo('docs/contained.md', '../outside/x.md'));
    expect(fs.readdirSync(outside)).toEqual([]);
  });

  test('nothing is copied to the agent’s side', async () => {
    fs.writeFileSync(s.host('workspace/mine.md'), 'mine');
    const asked = await s.requests(async () => {
      const ends = { source_root: 'workspace', source_path: 'mine.md', dest_root: 'laptop', dest_path: 'docs/mine.md' };
      expect(await s.fails('copy', ends)).toContain('laptop');
      await s.fails('copy', { ...ends, source_root: 'laptop', source_path: 'docs/copied.bin' });
    });
    expect(asked).toBe(0);
  });

  test('no other tool works on it', async () => {
    const one = laptop('docs/a.md');
    const asked = await s.requests(async () => {
      const calls: [string, object][] = [
        ['write_file', { ...one, content: 'x' }],
        ['patch_file', { ...one, patch: '@@ -1 +1 @@\n-a\n+b\n' }],
        ['edit_file', { ...one, old_text: 'a', new_text: 'b' }],
        ['remove_file', one],
        ['create_folder', laptop('docs/new')],
        ['remove_folder', laptop('docs')],
        ['permissions_file', one],
        ['grep', { root: 'laptop', pattern: 'x' }],
        ['glob', { root: 'laptop', pattern: '*' }],
        ['move', { source_root: 'laptop', source_path: 'docs/a.md', dest_root: 'workspace', dest_path: 'a.md' }],
      ];
      for (const [tool, args] of calls) {
        expect([tool, await s.fails(tool, args as never)]).toEqual([tool, expect.stringContaining('laptop')]);
      }
    });
    expect(asked).toBe(0);
  });
});

describe('a config is refused at start-up', () => {
  const folder = tempDir();
  const laptop = { name: 'laptop', agent: { allowed_paths: ['docs/'] }, allowed_tools: ALLOWED };
  const local = { name: 'workspace', path: folder, allowed_tools: ['*'] };

  async function refusal(config: object): Promise<string> {
    const file = writeConfig({ host: '127.0.0.1', port: 0, ...config });
    const { code, stderr } = await runRingfence(['stdio', '--config', file]);
    fs.rmSync(path.dirname(file), { recursive: true });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
    return stderr;
  }

  test.each(['write_file', 'grep', 'move'])(
    'if an agent root allows %s: it names what may be allowed',
    async (tool) => {
      const text = await refusal({ roots: [local, { ...laptop, allowed_tools: ['read_file', tool] }] });
      for (const name of [tool, 'laptop', ...ALLOWED]) expect(text).toContain(name);
    },
  );

  test.each<[string, object, RegExp]>([
    ['a root has both a path and an agent', { roots: [{ ...laptop, path: folder }] }, /path.*agent|agent.*path/],
    ['a root has neither', { roots: [{ name: 'nothing', allowed_tools: ['*'] }] }, /path/],
    ['a key is unknown', { roots: [{ ...laptop, agent: { alowed_paths: ['docs/'] } }] }, /alowed_paths.*allowed_paths/],
    ['the cache has no size', { roots: [{ ...laptop, agent: { cache_bytes: 0 } }] }, /cache_bytes/],
    ['there is no time to answer', { roots: [{ ...laptop, agent: { timeout: 0 } }] }, /timeout/],
    [
      'an allowed path leads out',
      { roots: [{ ...laptop, agent: { allowed_paths: ['../x'] } }] },
      /allowed_paths.*\.\.\/x|\.\.\/x/,
    ],
    ['memory is bound to it', { roots: [local, laptop], dialects: { memory: { root: 'laptop' } } }, /laptop/],
    ['classic is bound to it', { roots: [local, laptop], dialects: { classic: { root: 'laptop' } } }, /laptop/],
  ])('if %s', async (_, config, words) => {
    expect(await refusal(config)).toMatch(words);
  });
});
