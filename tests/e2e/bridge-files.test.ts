import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  BridgeError,
  FileCache,
  FilesystemBridge,
  type Sample,
  type SampleAnswer,
  type SampleParams,
  SecurityError,
  SecurityPolicy,
} from '../../src/index.ts';
import { tempDir } from '../support/temp-dir.ts';

const projectRoot = tempDir();
beforeAll(() => fs.mkdirSync(`${projectRoot}/docs`));
afterAll(() => fs.rmSync(projectRoot, { recursive: true }));

type Script = (prompt: string) => SampleAnswer | Promise<SampleAnswer>;

/** A bridge whose other side answers from a script, and what it was asked. */
function bridgeTo(
  script: Script,
  options: { maxBytes?: number; timeoutMs?: number; audit?: (event: unknown) => void } = {},
) {
  const asked: SampleParams[] = [];
  const sample: Sample = async (params) => {
    asked.push(params);
    return script(params.messages.map(({ content }) => content.text).join('\n'));
  };
  const { maxBytes = 10_000, ...more } = options;
  const cache = new FileCache({ maxBytes });
  const bridge = new FilesystemBridge({ policy: new SecurityPolicy({ projectRoot }), cache, sample, ...more });
  return { bridge, cache, asked };
}

const file = (content: string, more: object = {}): SampleAnswer => text(JSON.stringify({ content, ...more }));
const text = (value: string): SampleAnswer => ({ content: { type: 'text', text: value }, stopReason: 'endTurn' });
const use = (name: string, input: object): SampleAnswer => ({
  content: [{ type: 'tool_use', name, input }],
  stopReason: 'toolUse',
});

async function failureOf(work: Promise<unknown>): Promise<BridgeError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BridgeError);
  return error as BridgeError;
}

describe('filesystem-interaction/Read file content', () => {
  test('one request that names the path, a text in return, and the file in the cache', async () => {
    const { bridge, cache, asked } = bridgeTo(() => file('hello\n'));
    expect(await bridge.readFile('./docs/a.md')).toBe('hello\n');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.messages[0]?.content.text).toContain('docs/a.md');
    expect(asked[0]?.maxTokens).toBeGreaterThan(0);
    expect(cache.stats()).toMatchObject({ entries: 1, bytes: 6, misses: 1, hits: 0 });
    expect(await bridge.readFile('docs/x/../a.md')).toBe('hello\n');
    expect(bridge.stats()).toMatchObject({ hits: 1, misses: 1 });
    expect(asked).toHaveLength(1);
  });

  test.each<[string, SampleAnswer]>([
    ['a bare string', 'hello\n'],
    ['JSON as a bare string', '{"content":"hello\\n"}'],
    ['plain text', text('hello\n')],
    ['JSON', file('hello\n')],
    ['content that is a string', { content: 'hello\n' }],
    ['a tool_use block', use('guide_cache_file', { path: 'docs/a.md', content: 'hello\n' })],
  ])('%s is an answer', async (_, answer) => {
    const { bridge, cache } = bridgeTo(() => answer);
    expect(await bridge.readFile('docs/a.md')).toBe('hello\n');
    expect(cache.stats().entries).toBe(1);
  });

  test('text that happens to be JSON is content like any other', async () => {
    const { bridge } = bridgeTo(() => text('{"name":"package","version":"1.0.0"}'));
    expect(await bridge.readFile('docs/package.json')).toBe('{"name":"package","version":"1.0.0"}');
  });

  test('a file that a tool call brought meanwhile wins over what the answer says', async () => {
    const { bridge } = bridgeTo(async () => {
      await bridge.cacheFiles([{ path: 'docs/a.md', content: 'from the tool' }]);
      return text('I have handed it over.');
    });
    expect(await bridge.readFile('docs/a.md')).toBe('from the tool');
  });

  test('a call may bring another way to ask', async () => {
    const { bridge, asked } = bridgeTo(() => file('never'));
    expect(await bridge.readFile('docs/a.md', { sample: async () => file('mine') })).toBe('mine');
    expect(asked).toEqual([]);
  });

  test('concurrent reads of one path ask once', async () => {
    const { bridge, asked } = bridgeTo(() => file('once'));
    const reads = ['docs/a.md', './docs/a.md', 'docs/a.md'].map((path) => bridge.readFile(path));
    expect(await Promise.all(reads)).toEqual(['once', 'once', 'once']);
    expect(asked).toHaveLength(1);
  });

  test('the same question is the same to the letter, and another is not', async () => {
    const questions = async (path: string) => {
      const { bridge, asked } = bridgeTo(() => file('x'));
      await bridge.readFile(path);
      return JSON.stringify(asked);
    };
    expect(await questions('docs/a.md')).toBe(await questions('docs/a.md'));
    expect(await questions('docs/a.md')).not.toBe(await questions('docs/b.md'));
  });
});

describe('filesystem-interaction/Read file with encoding', () => {
  const latin1 = Buffer.from('caf\u00e9', 'latin1').toString('base64');

  test('bytes are read in the encoding that is asked for', async () => {
    const { bridge, asked } = bridgeTo(() => file(latin1, { encoding: 'base64' }));
    expect(await bridge.readFile('docs/a.txt', { encoding: 'latin1' })).toBe('caf\u00e9');
    expect(asked[0]?.messages[0]?.content.text).toContain('latin1');
    expect(await bridge.readFile('docs/a.txt', { encoding: 'windows-1252' })).toBe('caf\u00e9');
    expect(asked).toHaveLength(1);
  });

  test('the next encoding is tried where one does not fit', async () => {
    const { bridge } = bridgeTo(() => file(latin1, { encoding: 'base64' }));
    const options = { encoding: 'utf-8', fallbackEncodings: ['shift_jis', 'latin1'] };
    expect(await bridge.readFile('docs/a.txt', options)).toBe('caf\u00e9');
  });

  test('where none fits, the error says which were tried', async () => {
    const { bridge } = bridgeTo(() => file(latin1, { encoding: 'base64' }));
    const error = await failureOf(
      bridge.readFile('docs/a.txt', { encoding: 'utf-8', fallbackEncodings: ['shift_jis'] }),
    );
    expect(error.message).toMatch(/utf-8.*shift_jis/);
  });

  test('an encoding that there is not is refused before anything is asked', async () => {
    const { bridge, asked } = bridgeTo(() => file('x'));
    const error = await failureOf(bridge.readFile('docs/a.txt', { encoding: 'klingon' }));
    expect(error.message).toContain('klingon');
    expect(asked).toEqual([]);
  });

  test('the encoding that an answer names is how its text is kept', async () => {
    const { bridge } = bridgeTo(() => file('caf\u00e9', { encoding: 'latin1' }));
    expect(await bridge.readFile('docs/a.txt')).toBe('caf\u00e9');
    expect(await bridge.readFile('docs/a.txt', { binary: true })).toEqual(Buffer.from('caf\u00e9', 'latin1'));
  });
});

describe('filesystem-interaction/Read binary file', () => {
  const bytes = Buffer.from([0, 0xff, 0xfe, 10, 13]);

  test('base64 becomes the bytes', async () => {
    const { bridge, asked } = bridgeTo(() => file(bytes.toString('base64'), { encoding: 'base64' }));
    expect(await bridge.readFile('docs/a.png', { binary: true })).toEqual(bytes);
    expect(asked[0]?.messages[0]?.content.text).toContain('base64');
    expect(await bridge.readFile('docs/a.png', { binary: true })).toEqual(bytes);
    expect(asked).toHaveLength(1);
  });

  test('what is no base64 is an error, and nothing is cached', async () => {
    const { bridge, cache } = bridgeTo(() => file('***', { encoding: 'base64' }));
    await failureOf(bridge.readFile('docs/a.png', { binary: true }));
    expect(cache.stats().entries).toBe(0);
  });
});

describe('filesystem-interaction/Cache invalidation by modification time', () => {
  test('a listing that knows a newer time has the file asked for again', async () => {
    let version = 1;
    const { bridge, asked } = bridgeTo((prompt) =>
      prompt.includes('docs/a.md')
        ? file(`version ${version}`, { mtime: version * 1e9 })
        : text(JSON.stringify([{ name: 'a.md', type: 'file', mtime: version * 1e9 }])),
    );
    expect(await bridge.readFile('docs/a.md')).toBe('version 1');
    version = 1.5;
    await bridge.storeListing('docs', [{ name: 'a.md', type: 'file', mtime: 1.5e9 }]);
    expect(await bridge.readFile('docs/a.md')).toBe('version 1.5');
    expect(await bridge.readFile('docs/a.md')).toBe('version 1.5');
    expect(asked).toHaveLength(2);
  });

  test('a file that was older than its listing when it came is asked for again', async () => {
    const { bridge, asked } = bridgeTo(() => file('new', { mtime: 2e9 }));
    bridge.storeListing('docs', [{ name: 'a.md', type: 'file', mtime: 2e9 }]);
    bridge.cacheFiles([{ path: 'docs/a.md', content: 'old', mtime: 1e9 }]);
    expect(await bridge.readFile('docs/a.md')).toBe('new');
    expect(asked).toHaveLength(1);
  });
});

describe('filesystem-interaction/List directory contents', () => {
  const entries = [
    { name: 'a.md', type: 'file', size: 3, mtime: '2026-01-01T00:00:00.000Z' },
    { name: 'sub', type: 'directory' },
  ];

  test('one request that names the path, and entries with name, type and metadata', async () => {
    const { bridge, asked } = bridgeTo(() => text(JSON.stringify({ path: 'docs', entries })));
    expect(await bridge.listDirectory('docs/')).toEqual([
      { path: 'docs/a.md', ...entries[0] },
      { path: 'docs/sub', ...entries[1] },
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.messages[0]?.content.text).toContain('docs');
    await bridge.listDirectory('./docs');
    expect(asked).toHaveLength(1);
  });

  test.each([
    [[{ name: '../../etc', type: 'directory' }]],
    [
      [
        { name: 'ok', type: 'file' },
        { name: '..', type: 'directory' },
      ],
    ],
    [[{ name: '/etc/passwd', type: 'file' }]],
  ])('%j is validated as a whole, and nothing of it stays', async (listed) => {
    const { bridge, cache } = bridgeTo(() => text(JSON.stringify({ path: 'docs', entries: listed })));
    await failureOf(bridge.listDirectory('docs'));
    expect(cache.stats().entries).toBe(0);
  });

  test('what is outside of the policy is neither asked for nor stored', async () => {
    const { bridge, cache, asked } = bridgeTo(() => text(JSON.stringify({ path: 'private', entries })));
    expect(await failureOf(bridge.listDirectory('private'))).toBeInstanceOf(SecurityError);
    expect(asked).toEqual([]);
    expect(cache.stats().entries).toBe(0);
  });
});

test('filesystem-interaction/Recursive directory listing: a tree of entries with their paths', async () => {
  const tree = [
    {
      name: 'a',
      type: 'directory',
      children: [{ name: 'b', type: 'directory', children: [{ name: 'c.md', type: 'file' }] }],
    },
  ];
  const { bridge, asked } = bridgeTo(() => text(JSON.stringify({ path: 'docs', entries: tree })));
  expect(await bridge.listDirectory('docs', { recursive: true })).toMatchObject([
    { path: 'docs/a', children: [{ path: 'docs/a/b', children: [{ path: 'docs/a/b/c.md', type: 'file' }] }] },
  ]);
  expect(asked).toHaveLength(1);
  expect(await bridge.listDirectory('docs/a/b')).toMatchObject([{ path: 'docs/a/b/c.md' }]);
  expect(await bridge.listDirectory('docs')).toMatchObject([{ path: 'docs/a', type: 'directory' }]);
  expect(asked).toHaveLength(1);
  const climbing = [{ name: 'a', type: 'directory', children: [{ name: '..', type: 'file' }] }];
  const bad = bridgeTo(() => text(JSON.stringify({ path: 'docs', entries: climbing })));
  await failureOf(bad.bridge.listDirectory('docs', { recursive: true }));
});

describe('filesystem-interaction/Directory listing with filters', () => {
  const entries = [
    { name: 'a.md', type: 'file' },
    { name: 'b.ts', type: 'file' },
  ];

  test('the other side is told the pattern, and what does not match is dropped all the same', async () => {
    const { bridge, asked } = bridgeTo(() => text(JSON.stringify({ path: 'docs', entries })));
    const found = await bridge.listDirectory('docs', { pattern: '*.md' });
    expect(found.map(({ name }) => name)).toEqual(['a.md']);
    expect(asked[0]?.messages[0]?.content.text).toContain('*.md');
  });

  test('a listing that was filtered is not taken for the whole', async () => {
    const { bridge, asked } = bridgeTo((prompt) =>
      text(JSON.stringify({ path: 'docs', entries: prompt.includes('*.md') ? [entries[0]] : entries })),
    );
    await bridge.listDirectory('docs', { pattern: '*.md' });
    expect(await bridge.listDirectory('docs')).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  test('a pattern that is not safe is refused before anything is asked', async () => {
    const { bridge, asked } = bridgeTo(() => text('[]'));
    for (const pattern of ['../*', '/etc/*', '{a,b}'.repeat(20)]) {
      await failureOf(bridge.listDirectory('docs', { pattern }));
    }
    expect(asked).toEqual([]);
  });
});

describe('errors', () => {
  test('filesystem-interaction/File not found: said clearly, nothing cached', async () => {
    const { bridge, cache } = bridgeTo(() => text('{"error":"not_found"}'));
    expect(await failureOf(bridge.readFile('docs/a.md'))).toMatchObject({
      code: 'not_found',
      errorType: 'not_found',
      message: expect.stringMatching(/not found.*docs\/a\.md/i),
      instruction: expect.stringMatching(/\S/),
    });
    expect(cache.stats().entries).toBe(0);
  });

  test('filesystem-interaction/Permission denied: said clearly, nothing cached', async () => {
    const { bridge, cache } = bridgeTo(() => text('{"error":"permission_denied"}'));
    expect(await failureOf(bridge.readFile('docs/a.md'))).toMatchObject({
      errorType: 'permission',
      message: expect.stringMatching(/permission denied.*docs\/a\.md/i),
    });
    expect(cache.stats().entries).toBe(0);
  });

  test('filesystem-interaction/Sampling request timeout: an answer that comes late is not kept', async () => {
    let late: (answer: SampleAnswer) => void = () => {};
    const answer = new Promise<SampleAnswer>((resolve) => {
      late = resolve;
    });
    const { bridge, cache } = bridgeTo(() => answer, { timeoutMs: 50 });
    expect(await failureOf(bridge.readFile('docs/a.md'))).toMatchObject({ code: 'timed_out', errorType: 'timeout' });
    late(file('late'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cache.stats().entries).toBe(0);
  });

  test('filesystem-interaction/Unsupported client fallback: without a way to ask, the error names the others', async () => {
    const policy = new SecurityPolicy({ projectRoot });
    const bridge = new FilesystemBridge({ policy, cache: new FileCache({ maxBytes: 100 }) });
    const error = await failureOf(bridge.readFile('docs/a.md'));
    expect(error).toMatchObject({ errorType: 'unsupported', message: expect.stringMatching(/sampling/) });
    expect(error.instruction).toMatch(/guide_cache_file/);
    expect(error.instruction).toMatch(/resource/);
  });

  test('filesystem-interaction/Disallowed path access: blocked before anything is asked, and reported', async () => {
    const events: unknown[] = [];
    const { bridge, asked } = bridgeTo(() => file('x'), { audit: (event) => events.push(event) });
    for (const path of ['private/key', '../x', '/etc/passwd', 'docs/../../x']) {
      expect(await failureOf(bridge.readFile(path))).toBeInstanceOf(SecurityError);
    }
    expect(asked).toEqual([]);
    expect(events).toHaveLength(4);
    expect(events[0]).toMatchObject({ path: 'private/key', errorType: 'security' });
  });

  test('an answer that was cut off is never kept', async () => {
    for (const stopReason of ['maxTokens', 'max_tokens', 'length']) {
      const { bridge, cache } = bridgeTo(() => ({ content: { type: 'text', text: '{"content":"half"}' }, stopReason }));
      await failureOf(bridge.readFile('docs/a.md'));
      expect(cache.stats().entries).toBe(0);
    }
  });

  test('what the other side throws comes through as it is', async () => {
    const gone = new Error('connection lost');
    const { bridge } = bridgeTo(() => Promise.reject(gone));
    await expect(bridge.readFile('docs/a.md')).rejects.toBe(gone);
  });
});

test('filesystem-interaction/Operation audit log: every operation is reported with its path, result and duration', async () => {
  const events: { operation?: string; path?: string; result?: string }[] = [];
  const { bridge } = bridgeTo(() => file('never to be logged'), { audit: (event) => events.push(event as object) });
  await bridge.readFile('docs/a.md');
  await bridge.readFile('docs/a.md');
  await bridge.cacheFiles([{ path: 'docs/b.md', content: 'never to be logged' }]);
  expect(events.length).toBeGreaterThanOrEqual(3);
  expect(events[0]).toMatchObject({ operation: expect.any(String), path: 'docs/a.md', result: 'ok' });
  expect(JSON.stringify(events)).not.toContain('never to be logged');
});
