import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { FenceError } from '../../fence/index.ts';
import { ToolError } from '../../tools/errors.ts';
import { SecurityError } from '../bridge-error.ts';
import { FileCache } from '../cache/file-cache.ts';
import { deferred } from '../deferred.fixture.ts';
import { SecurityPolicy } from '../policy/security-policy.ts';
import type { Sample, SampleAnswer, SampleOptions, SampleParams } from '../sample.ts';
import type { BridgeEvent } from './bridge-event.ts';
import { FilesystemBridge, type FilesystemBridgeOptions } from './filesystem-bridge.ts';

type Script = (params: SampleParams, options: SampleOptions) => SampleAnswer | Promise<SampleAnswer>;

/** A bridge to a side that answers from a script, and all that it was asked. */
function bridgeTo(script: Script, options: Partial<FilesystemBridgeOptions> & { maxBytes?: number } = {}) {
  const asked: string[] = [];
  const sample: Sample = async (params, more) => {
    asked.push(params.messages[0]?.content.text ?? '');
    return script(params, more);
  };
  const { maxBytes = 1000, ...rest } = options;
  const cache = new FileCache({ maxBytes });
  const bridge = new FilesystemBridge({ policy: new SecurityPolicy({ remote: true }), cache, sample, ...rest });
  return { bridge, cache, asked };
}

const json = (value: unknown): SampleAnswer => ({ content: { type: 'text', text: JSON.stringify(value) } });
const file = (content: string, more: object = {}): SampleAnswer => json({ content, ...more });
const call = (name: string, ...inputs: object[]): SampleAnswer => ({
  content: inputs.map((input) => ({ type: 'tool_use', name, input })),
});
const never = () => new Promise<never>(() => {});

afterEach(() => {
  vi.useRealTimers();
});

describe('readFile', () => {
  test('asks once and then reads from the cache', async () => {
    const { bridge, asked } = bridgeTo(() => file('hello', { mtime: 7 }));
    expect(await bridge.readFile('./docs/a.md')).toBe('hello');
    expect(await bridge.readFile('docs/x/../a.md')).toBe('hello');
    expect(await bridge.readBytes('docs/a.md')).toEqual({
      path: 'docs/a.md',
      bytes: Buffer.from('hello'),
      encoding: 'utf-8',
      mtime: 7,
      cached: true,
    });
    expect(asked).toEqual([expect.stringContaining('"docs/a.md"')]);
    expect(bridge.stats()).toMatchObject({ hits: 2, misses: 1, entries: 1, bytes: 5, asking: 0 });
  });

  test('does not ask for a refused path', async () => {
    const { bridge, asked, cache } = bridgeTo(() => file('x'));
    for (const denied of ['private/a', '../a', '/etc/passwd', 'docs/../../a', 'docs\\..\\..\\a', '']) {
      await expect(bridge.readFile(denied)).rejects.toBeInstanceOf(SecurityError);
      await expect(bridge.listDirectory(denied)).rejects.toBeInstanceOf(SecurityError);
      expect(() => bridge.cached(denied)).toThrow(SecurityError);
      expect(() => bridge.info(denied)).toThrow(SecurityError);
    }
    expect(asked).toEqual([]);
    expect(cache.stats()).toMatchObject({ entries: 0, misses: 0 });
  });

  test('refuses a link of a local project that leads outside', async () => {
    const projectRoot = tempDir();
    fs.mkdirSync(path.join(projectRoot, 'docs'));
    fs.symlinkSync('/etc/passwd', path.join(projectRoot, 'docs/out'));
    const { bridge, asked } = bridgeTo(() => file('x'), { policy: new SecurityPolicy({ projectRoot }) });
    await expect(bridge.readFile('docs/out')).rejects.toMatchObject({ violation: 'link' });
    expect(asked).toEqual([]);
    fs.rmSync(projectRoot, { recursive: true });
  });

  test('returns a copy of the bytes', async () => {
    const { bridge } = bridgeTo(() => file('AAE=', { encoding: 'base64' }));
    const bytes = await bridge.readFile('docs/a', { binary: true });
    expect(bytes).toEqual(Buffer.from([0, 1]));
    bytes.fill(9);
    expect(await bridge.readFile('docs/a', { binary: true })).toEqual(Buffer.from([0, 1]));
  });

  test('decodes with the stated encoding, not with the requested one', async () => {
    const { bridge, asked } = bridgeTo(() => file('café', { encoding: 'windows-1252' }));
    for (const encoding of [undefined, 'utf-8', 'shift_jis'])
      expect(await bridge.readFile('docs/a', { encoding })).toBe('café');
    expect(await bridge.readFile('docs/a', { binary: true })).toEqual(Buffer.from('café', 'latin1'));
    expect(asked).toHaveLength(1);
  });

  test('names the encodings in the question and falls back to the next', async () => {
    const { bridge, asked } = bridgeTo(() => ({ content: '5 €' }));
    const options = { encoding: 'latin1', fallbackEncodings: ['windows-1252', 'utf-8'] };
    expect(await bridge.readFile('docs/a', options)).toBe('5 €');
    expect((await bridge.readBytes('docs/a')).bytes).toEqual(Buffer.from([0x35, 0x20, 0x80]));
    expect(asked[0]).toMatch(/latin1.*windows-1252.*utf-8/);
    for (const wrong of [{ encoding: 'klingon' }, { fallbackEncodings: ['klingon'] }])
      await expect(bridge.readFile('docs/b', wrong)).rejects.toMatchObject({ code: 'unsupported_encoding' });
    expect(asked).toHaveLength(1);
  });

  test('returns a file that is too large to cache', async () => {
    const { bridge, cache } = bridgeTo(() => file('x'.repeat(50)), { maxBytes: 40 });
    cache.set('docs/small', { content: 'kept' });
    expect(await bridge.readFile('docs/a')).toHaveLength(50);
    expect(cache.paths()).toEqual(['docs/small']);
  });

  test('raises sampling_unsupported without a sample function, and reads cached files', async () => {
    const { bridge } = bridgeTo(() => file('x'), { sample: undefined });
    const silent = new FilesystemBridge({ policy: bridge.policy, cache: bridge.cache });
    await expect(silent.readFile('docs/a')).rejects.toMatchObject({
      code: 'sampling_unsupported',
      errorType: 'unsupported',
      message: expect.stringMatching(/sampling.*docs\/a/),
      instruction: expect.stringMatching(/guide_cache_file.*resource/),
    });
    silent.cacheFiles([{ path: 'docs/a', content: 'by hand' }]);
    expect(await silent.readFile('docs/a')).toBe('by hand');
    await expect(silent.listDirectory('docs')).rejects.toMatchObject({ code: 'sampling_unsupported' });
  });
});

describe('an answer', () => {
  test.each<[string, SampleAnswer, RegExp]>([
    [
      'about another path',
      call('guide_cache_file', { path: 'docs/b', content: 'x' }),
      /about another path \(docs\/b\)/,
    ],
    ['about a path that is refused', call('guide_cache_file', { path: '../b', content: 'x' }), /about another path/],
    ['with another path in its JSON', json({ path: 'docs/b', content: 'x' }), /about another path/],
    ['of no known encoding', file('x', { encoding: 'klingon' }), /klingon/],
    ['of no base64', file('***', { encoding: 'base64' }), /content does not fit/],
    ['of no time', file('x', { mtime: 'soon' }), /mtime must be/],
    ['with a wrong hash', file('x', { sha256: 'a'.repeat(64) }), /sha256 does not match/],
    [
      'in some of its chunks',
      call('guide_read_file', { path: 'docs/a', content: 'x', chunk: { index: 0, total: 2 } }),
      /missing/,
    ],
  ])('%s is refused', async (_, answer, problem) => {
    const { bridge, cache } = bridgeTo(() => answer);
    await expect(bridge.readFile('docs/a')).rejects.toMatchObject({
      code: 'bad_answer',
      errorType: 'validation',
      path: 'docs/a',
      message: expect.stringMatching(problem),
    });
    expect(cache.stats().entries).toBe(0);
  });

  test('may spell its path differently, include other files, and come in chunks', async () => {
    const { bridge, cache } = bridgeTo(() =>
      call('guide_cache_file', {
        files: [
          { path: '../x', content: 'ignored' },
          { path: './docs//a', content: 'a' },
        ],
      }),
    );
    expect(await bridge.readFile('docs/a')).toBe('a');
    expect(cache.paths()).toEqual(['docs/a']);
    const chunk = (content: string, index: number) => ({ path: 'docs/b', content, chunk: { index, total: 2 } });
    const sample = async () => call('guide_read_file', chunk('2', 1), chunk('1', 0));
    expect(await bridge.readFile('docs/b', { sample })).toBe('12');
  });

  test('is ignored if the file was handed over meanwhile', async () => {
    for (const answer of ['Done.', file('other'), json({ error: 'not_found' })]) {
      const { bridge } = bridgeTo(() => {
        bridge.cacheFiles([{ path: 'docs/a', content: 'handed' }]);
        return answer;
      });
      expect(await bridge.readFile('docs/a')).toBe('handed');
      expect(bridge.stats()).toMatchObject({ updates: 0 });
    }
    const { bridge } = bridgeTo(() => {
      bridge.receiveFile({ path: 'docs/a', content: 'handed' });
      bridge.cacheFiles([{ path: 'docs/evicts', content: 'x'.repeat(1000) }]);
      throw new ToolError('timed_out', { seconds: 1 });
    });
    expect(await bridge.readFile('docs/a')).toBe('handed');
  });

  test('for a folder is ignored if the listing was handed over meanwhile', async () => {
    const { bridge } = bridgeTo(() => {
      bridge.storeListing('docs', [{ name: 'a.md', type: 'file' }]);
      return 'Done.';
    });
    expect(await bridge.listDirectory('docs', { pattern: '*.md' })).toHaveLength(1);
    const filtered = bridgeTo(() => {
      filtered.bridge.storeListing('docs', [{ name: 'a.md', type: 'file' }], '*.md');
      return json([{ name: 'b', type: 'file' }]);
    });
    expect((await filtered.bridge.listDirectory('docs')).map(({ name }) => name)).toEqual(['b']);
  });
});

describe('the timeout', () => {
  test('expires even if sample never settles, and does not change the cache', async () => {
    vi.useFakeTimers();
    const { bridge, cache } = bridgeTo(never, { timeoutMs: 1500 });
    const reading = bridge.readFile('docs/a');
    const failed = expect(reading).rejects.toMatchObject({
      code: 'timed_out',
      errorType: 'timeout',
      message: expect.stringMatching(/1\.5 seconds.*docs\/a/),
    });
    await vi.advanceTimersByTimeAsync(1500);
    await failed;
    expect(bridge.stats()).toMatchObject({ asking: 0, entries: 0 });
    expect(cache.stats().entries).toBe(0);
  });

  test('aborts the question and discards a late answer', async () => {
    vi.useFakeTimers();
    const late = deferred<SampleAnswer>();
    let aborted = false;
    const { bridge, cache, asked } = bridgeTo(
      (_, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        return asked.length === 1 ? late.promise : file('in time');
      },
      { timeoutMs: 10 },
    );
    const failed = expect(bridge.readFile('docs/a')).rejects.toMatchObject({ code: 'timed_out' });
    await vi.advanceTimersByTimeAsync(10);
    await failed;
    expect(aborted).toBe(true);
    late.resolve(file('too late'));
    await vi.advanceTimersByTimeAsync(10);
    expect(cache.stats().entries).toBe(0);
    expect(await bridge.readFile('docs/a')).toBe('in time');
    expect(asked).toHaveLength(2);
  });

  test('is passed to sample', async () => {
    const told: number[] = [];
    const { bridge } = bridgeTo((_, { timeoutMs }) => {
      told.push(timeoutMs);
      return file('x');
    });
    await bridge.readFile('docs/a');
    expect(told).toEqual([30_000]);
  });
});

describe('asking', () => {
  test('happens once for concurrent reads of a file, each with its own options', async () => {
    const { bridge, asked } = bridgeTo(() => file('hi'));
    const sample = async () => file('never asked');
    expect(
      await Promise.all([
        bridge.readFile('docs/a'),
        bridge.readFile('./docs/a', { binary: true }),
        bridge.readFile('docs/a', { sample }),
      ]),
    ).toEqual(['hi', Buffer.from('hi'), 'hi']);
    expect(asked).toHaveLength(1);
  });

  test('continues for the other readers when one aborts', async () => {
    const answer = deferred<SampleAnswer>();
    const { bridge, asked } = bridgeTo(() => answer.promise);
    const stop = new AbortController();
    const first = bridge.readFile('docs/a', { signal: stop.signal });
    const second = bridge.readFile('docs/a');
    stop.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    answer.resolve(file('hi'));
    expect(await second).toBe('hi');
    expect(asked).toHaveLength(1);
  });

  test('is aborted when nobody waits, and then caches nothing', async () => {
    const answer = deferred<SampleAnswer>();
    let signal: AbortSignal | undefined;
    const { bridge, cache } = bridgeTo((_, options) => {
      signal = options.signal;
      return answer.promise;
    });
    const stop = new AbortController();
    const reading = bridge.readFile('docs/a', { signal: stop.signal });
    await new Promise(setImmediate);
    stop.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
    expect(signal?.aborted).toBe(true);
    answer.resolve(file('late'));
    await new Promise(setImmediate);
    expect(cache.stats().entries).toBe(0);
  });

  test('passes an unknown error to the call that asked', async () => {
    class RoundEnds {}
    const mine = new RoundEnds();
    const yours = new RoundEnds();
    const { bridge, cache } = bridgeTo(() => file('x'));
    const reads = [mine, yours].map((thrown) =>
      bridge.readFile('docs/a', {
        sample: () => {
          throw thrown;
        },
      }),
    );
    await expect(reads[0]).rejects.toBe(mine);
    await expect(reads[1]).rejects.toBe(yours);
    expect([cache.stats().entries, bridge.stats().asking]).toEqual([0, 0]);
    expect(await bridge.readFile('docs/a')).toBe('x');
  });

  test('is not shared between calls if sample is separate', async () => {
    const { bridge, asked } = bridgeTo(() => file('x'));
    const waiting = deferred<SampleAnswer>();
    const separate = (answer: () => Promise<SampleAnswer>): Sample => Object.assign(answer, { separate: true });
    // The first waits for the second's answer: if the second waited for the first, none would ever come.
    const first = bridge.readFile('docs/a', { sample: separate(() => waiting.promise) });
    const second = bridge.readFile('docs/a', { sample: separate(async () => file('second')) });
    expect(await second).toBe('second');
    waiting.resolve(file('first'));
    expect(await first).toBe('second');
    expect(asked).toEqual([]);
  });

  test('converts a RingfenceError to a BridgeError with the path', async () => {
    const { bridge } = bridgeTo(() => {
      throw new FenceError('permission_denied', {});
    });
    await expect(bridge.readFile('docs/a')).rejects.toMatchObject({
      name: 'BridgeError',
      path: 'docs/a',
      message: 'Permission denied: docs/a',
    });
  });
});

describe('listDirectory', () => {
  const entries = [
    { name: 'a.md', type: 'file', size: 2, mtime: 5 },
    { name: 'sub', type: 'directory', children: [{ name: 'b.md', type: 'file' }] },
  ];

  test('returns a tree with paths, or its top level', async () => {
    const { bridge, asked } = bridgeTo(() => json({ path: './docs/', entries }));
    expect(await bridge.listDirectory('docs')).toEqual([
      { name: 'a.md', path: 'docs/a.md', type: 'file', size: 2, mtime: 5 },
      { name: 'sub', path: 'docs/sub', type: 'directory' },
    ]);
    expect(await bridge.listDirectory('docs', { recursive: true })).toMatchObject([
      { path: 'docs/a.md' },
      { path: 'docs/sub', children: [{ path: 'docs/sub/b.md' }] },
    ]);
    expect(await bridge.listDirectory('docs/sub')).toEqual([{ name: 'b.md', path: 'docs/sub/b.md', type: 'file' }]);
    expect(asked).toHaveLength(1);
  });

  test('sends the pattern and filters the answer again', async () => {
    const { bridge, asked } = bridgeTo(() => json(entries));
    expect(await bridge.listDirectory('docs', { pattern: 'b*', recursive: true })).toMatchObject([
      { name: 'sub', children: [{ name: 'b.md' }] },
    ]);
    expect(asked[0]).toContain('"b*"');
    await expect(bridge.listDirectory('docs', { pattern: '../*' })).rejects.toMatchObject({ code: 'invalid_pattern' });
    expect(await bridge.listDirectory('docs', { pattern: 'b*', recursive: true })).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  test('shares equal questions only', async () => {
    const { bridge, asked } = bridgeTo(() => json([]));
    await Promise.all([
      bridge.listDirectory('docs'),
      bridge.listDirectory('docs/'),
      bridge.listDirectory('docs', { recursive: true }),
      bridge.listDirectory('docs', { pattern: '*' }),
    ]);
    expect(asked).toHaveLength(3);
  });

  test.each([
    ['another folder', json({ path: 'src', entries: [] }), 'bad_answer'],
    ['a name that leads out', json([{ name: '../x', type: 'file' }]), 'path_not_allowed'],
    ['an entry of no type', json([{ name: 'x' }]), 'bad_answer'],
    ['words', 'two files', 'bad_answer'],
  ])('caches nothing of %s', async (_, answer, code) => {
    const { bridge, cache } = bridgeTo(() => answer);
    await expect(bridge.listDirectory('docs')).rejects.toMatchObject({ code });
    expect(cache.stats().entries).toBe(0);
  });

  test('returns a listing that is too large to cache', async () => {
    const { bridge, cache } = bridgeTo(() => json(entries), { maxBytes: 20 });
    expect(await bridge.listDirectory('docs')).toHaveLength(2);
    expect(cache.stats().entries).toBe(0);
  });

  test('a newer mtime in a listing makes the file be asked for again, in either order', async () => {
    let version = 1;
    const { bridge, asked } = bridgeTo(() => file(`${version}`, { mtime: version * 100 }));
    expect(await bridge.readFile('docs/a')).toBe('1');
    bridge.storeListing('docs', [{ name: 'a', type: 'file', mtime: 100 }]);
    expect(await bridge.readFile('docs/a')).toBe('1');
    version = 2;
    bridge.storeListing('docs', [{ name: 'a', type: 'file', mtime: 200 }]);
    expect(await bridge.readFile('docs/a')).toBe('2');
    bridge.cacheFiles([{ path: 'docs/a', content: 'old', mtime: 150 }]);
    expect(await bridge.readFile('docs/a')).toBe('2');
    bridge.cacheFiles([{ path: 'docs/a', content: 'of unknown time' }]);
    expect(await bridge.readFile('docs/a')).toBe('of unknown time');
    expect(asked).toHaveLength(3);
  });
});

describe('a handover', () => {
  test('returns a description of the file', () => {
    const { bridge } = bridgeTo(never);
    const [taken] = bridge.cacheFiles([{ path: './docs/a', content: 'é', encoding: 'latin1', mtime: 7, size: 1 }]);
    expect(taken).toEqual({
      path: 'docs/a',
      status: 'created',
      size: 1,
      contentHash: 'de2e331d891ae267a7009cb45b4e8830f170e0c937288ea2731a1941c7a53b0d',
      metadata: { size: 1, encoding: 'latin1', mtime: 7 },
      evicted: { entries: 0, bytes: 0 },
      warnings: [],
    });
    expect(bridge.cacheFiles([{ path: 'docs/a', content: 'ab', size: 5 }])).toMatchObject([
      { status: 'updated', size: 2, metadata: { size: 5 }, warnings: [expect.stringMatching(/5.*2 bytes/)] },
    ]);
  });

  test('is all or nothing', () => {
    const { bridge, cache } = bridgeTo(never);
    bridge.cacheFiles([{ path: 'docs/a', content: 'old' }]);
    const good = { path: 'docs/a', content: 'new' };
    for (const bad of [
      { path: '../x', content: '' },
      { path: 'docs/b', content: '*', encoding: 'base64' },
      { path: 'docs/b', content: '', encoding: 'klingon' },
      { path: 'docs/b', content: '', mtime: 'soon' },
      { path: 'docs/b', content: '', sha256: 'abc' },
      { path: './docs/a', content: 'twice' },
      { path: 'docs/b', content: 'x'.repeat(999) },
    ])
      for (const files of [
        [good, bad],
        [bad, good],
      ])
        expect(() => bridge.cacheFiles(files)).toThrow();
    expect(cache.peek('docs/a')?.content.toString()).toBe('old');
    expect(cache.paths()).toEqual(['docs/a']);
  });

  test('may come in chunks, and repeated chunks are ignored', () => {
    const { bridge, cache } = bridgeTo(never);
    const send = (content: string, index: number) =>
      bridge.receiveFile({ path: 'docs/a', content, chunk: { index, total: 2 } });
    expect(send('b', 1)).toEqual({ complete: false, path: 'docs/a', received: 1, total: 2 });
    expect(cache.has('docs/a')).toBe(false);
    expect(bridge.stats()).toMatchObject({ chunkSets: 1, chunkBytes: 1 });
    const whole = send('a', 0);
    expect(whole).toMatchObject({ complete: true, path: 'docs/a', size: 2, status: 'created' });
    expect(send('b', 1)).toEqual({ ...whole, status: 'updated' });
    expect(bridge.stats()).toMatchObject({ chunkSets: 0, entries: 1, updates: 0 });
    cache.delete('docs/a');
    expect(send('b', 1)).toMatchObject({ complete: false, received: 1 });
    bridge.cacheFiles([{ path: 'docs/a', content: 'whole' }]);
    expect(send('a', 0)).toMatchObject({ complete: false, received: 1 });
  });

  test('in chunks is refused if it is too large', () => {
    const { bridge } = bridgeTo(never, { maxBytes: 10 });
    bridge.receiveFile({ path: 'docs/a', content: '1234567', chunk: { index: 0, total: 2 } });
    expect(() => bridge.receiveFile({ path: 'docs/a', content: '8901', chunk: { index: 1, total: 2 } })).toThrow(
      /11 bytes/,
    );
    expect(bridge.stats()).toMatchObject({ chunkSets: 0, entries: 0 });
  });

  test('of a listing counts the matching entries', () => {
    const { bridge } = bridgeTo(never);
    const entries = ['a.md', 'b.ts', 'c.md'].map((name) => ({ name, type: 'file' }));
    expect(bridge.storeListing('docs', entries, '*.md')).toEqual({
      path: 'docs',
      count: 2,
      stored: 2,
      warnings: ['docs/b.ts does not match the pattern and was left out'],
    });
    expect(() => bridge.storeListing('docs', entries, '[')).toThrow(/Invalid pattern/);
    expect(() => bridge.storeListing('docs', [...entries, { name: '..', type: 'file' }])).toThrow(SecurityError);
    expect(bridge.stats().listings).toBe(1);
  });

  test('can be read without asking', () => {
    const { bridge } = bridgeTo(never);
    expect(bridge.cached('docs/a')).toBeUndefined();
    expect(bridge.info('docs/a')).toBeUndefined();
    bridge.cacheFiles([{ path: 'docs/a', content: 'é', encoding: 'latin1' }]);
    bridge.cacheFiles([{ path: 'docs/b', content: '/w==', encoding: 'base64', mtime: 100 }]);
    expect(bridge.cached('docs/a')).toMatchObject({ text: 'é', bytes: Buffer.from([0xe9]), cached: true });
    expect(bridge.cached('docs/b')).toMatchObject({ text: undefined, bytes: Buffer.from([0xff]) });
    expect(bridge.stats()).toMatchObject({ hits: 2, misses: 1 });
    expect(bridge.info('docs/b')).toEqual({ name: 'b', path: 'docs/b', type: 'file', size: 1, mtime: 100 });
    bridge.storeListing('docs', [
      { name: 'b', type: 'file', size: 7, mtime: 100 },
      { name: 'c', type: 'directory' },
    ]);
    expect(bridge.info('docs/b')).toMatchObject({ size: 1 });
    bridge.storeListing('docs', [{ name: 'b', type: 'file', size: 7, mtime: 101 }]);
    expect(bridge.info('docs/b')).toMatchObject({ size: 7, mtime: 101 });
    expect(bridge.info('docs')).toMatchObject({ type: 'directory' });
  });
});

test('every operation is audited, refusals with the error, and never with content', async () => {
  const events: BridgeEvent[] = [];
  const { bridge } = bridgeTo(() => file('secret'), { audit: (event) => events.push(event) });
  await bridge.readFile('docs/a');
  await bridge.readFile('./docs/a');
  await bridge.readFile('../a').catch(() => {});
  await bridge.listDirectory('docs').catch(() => {});
  bridge.cacheFiles(['docs/b', 'docs/c'].map((name) => ({ path: name, content: 'secret' })));
  expect(() =>
    bridge.cacheFiles([
      { path: 'docs/d', content: '' },
      { path: 'private/x', content: 'secret' },
    ]),
  ).toThrow();
  expect(() => bridge.receiveFile({ path: 'docs/a', content: 'secret', sha256: '0' })).toThrow();
  bridge.storeListing('docs', []);
  bridge.cached('docs/c');
  const told = events.map(({ operation, path, result, cached, errorType, violation }) =>
    [operation, path, result, cached, errorType, violation].filter((part) => part !== undefined),
  );
  expect(told).toEqual([
    ['read_file', 'docs/a', 'ok', false],
    ['read_file', './docs/a', 'ok', true],
    ['read_file', '../a', 'error', 'security', 'traversal'],
    ['list_directory', 'docs', 'error', 'validation'],
    ['cache_file', 'docs/b', 'ok'],
    ['cache_file', 'docs/c', 'ok'],
    ['cache_file', 'private/x', 'error', 'security', 'not_allowed'],
    ['receive_file', 'docs/a', 'error', 'validation'],
    ['store_listing', 'docs', 'ok'],
    ['read_cached', 'docs/c', 'ok'],
  ]);
  expect(events[2]?.error?.stack).toContain('SecurityError');
  expect(events.every(({ time, durationMs }) => time > 0 && durationMs >= 0)).toBe(true);
  expect(JSON.stringify(events)).not.toContain('secret');
});
