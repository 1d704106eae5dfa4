import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BoundServer } from '../support/bound-server.ts';
import type { LogLine } from '../support/ringfence-process.ts';

const MB = 1024 * 1024;

/** The warnings in the log of all calls so far. A call logs its warnings before its own line. */
async function warnings(box: BoundServer<'classic'>, calls: number): Promise<LogLine[]> {
  await box.callLogs(calls);
  return box.server.logs().filter(({ level }) => level === 'warn');
}

test('filesystem-server/read: every field of the response', async () => {
  await using box = await BoundServer.start('classic');
  fs.utimesSync(box.file('a/b.txt', 'one\ntwo\n'), 0, new Date('2024-04-10T15:30:00Z'));
  expect(await box.ok('read', { path: './a/../a//b.txt' })).toEqual({
    content: 'one\ntwo\n',
    encoding: 'utf8',
    size: 8,
    truncated: false,
    line_count: 2,
    metadata: { path: 'a/b.txt', modified: '2024-04-10T15:30:00.000Z', size: 8 },
  });
});

test.each([
  ['CRLF', 'one\r\ntwo\r\n', 2],
  ['a BOM', '\ufeffone', 1],
  ['no final newline', 'one\ntwo', 2],
  ['nothing at all', '', 0],
  ['only a newline', '\n', 1],
  ['other scripts', '\u{1f600} \u65e5\u672c\n', 1],
  ['control characters', '\u0001\u001b[0m\u2028', 1],
])('filesystem-server/read: text with %s comes byte for byte', async (_, text, lines) => {
  await using box = await BoundServer.start('classic');
  box.file('f', text);
  expect(await box.ok('read', { path: 'f' })).toMatchObject({
    content: text,
    encoding: 'utf8',
    size: Buffer.byteLength(text),
    line_count: lines,
    truncated: false,
  });
});

describe('filesystem-server/read: lines', () => {
  const text = 'zero\r\none\ntwo\nthree\nfour';

  test.each([
    [{ start_line: 0, end_line: 0 }, 'zero\r\n'],
    [{ start_line: 1, end_line: 2 }, 'one\ntwo\n'],
    [{ start_line: 3 }, 'three\nfour'],
    [{ end_line: 1 }, 'zero\r\none\n'],
    [{ start_line: 4, end_line: 4 }, 'four'],
    [{ start_line: 2, end_line: 1000 }, 'two\nthree\nfour'],
    [{ start_line: 5 }, ''],
    [{ start_line: 9, end_line: 9_007_199_254_740_991 }, ''],
  ])('%j, counted from 0 and inclusive', async (range, content) => {
    await using box = await BoundServer.start('classic');
    box.file('f', text);
    expect(await box.ok('read', { path: 'f', ...range })).toMatchObject({
      content,
      encoding: 'utf8',
      size: Buffer.byteLength(text),
      line_count: 5,
      truncated: false,
    });
  });

  test('can come as base64 too', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', text);
    const { content, encoding } = await box.ok('read', { path: 'f', start_line: 1, end_line: 1, encoding: 'base64' });
    expect([Buffer.from(content, 'base64').toString(), encoding]).toEqual(['one\n', 'base64']);
  });

  test('beyond max_size are cut, and counted all the same', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', text);
    expect(await box.ok('read', { path: 'f', start_line: 1, end_line: 2, max_size: 6 })).toMatchObject({
      content: 'one\ntw',
      truncated: true,
      line_count: 5,
    });
  });
});

describe('filesystem-server/read: encodings', () => {
  const bytes = Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff, 0xfe, 0x0a]);

  test('a binary file comes as base64 by itself', async () => {
    await using box = await BoundServer.start('classic');
    box.file('zip', bytes);
    box.file('utf16', Buffer.from('\ufeffhello', 'utf16le'));
    box.file('nul', 'text\0text');
    box.file('latin1', Buffer.from('caf\xe9', 'latin1'));
    for (const path of ['zip', 'utf16', 'nul', 'latin1']) {
      const { content, encoding, truncated } = await box.ok('read', { path });
      expect([path, encoding, truncated]).toEqual([path, 'base64', false]);
      expect(Buffer.from(content, 'base64')).toEqual(fs.readFileSync(box.host(path)));
    }
  });

  test('base64 and binary give the exact bytes as base64, of text too', async () => {
    await using box = await BoundServer.start('classic');
    box.file('zip', bytes);
    box.file('text', '\ufeffh\u00e9llo\r\n');
    for (const path of ['zip', 'text']) {
      for (const encoding of ['base64', 'binary']) {
        const result = await box.ok('read', { path, encoding });
        expect(result.encoding).toBe('base64');
        expect(result.content).toBe(fs.readFileSync(box.host(path)).toString('base64'));
      }
    }
  });
});

describe('filesystem-server/read: sizes', () => {
  test('max_size cuts text between characters and bytes anywhere', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'ab\u{1f600}cd');
    box.file('b', Buffer.from([0, 1, 0xc3, 0xc3, 0xc3]));
    expect(await box.ok('read', { path: 'f', max_size: 5 })).toMatchObject({ content: 'ab', truncated: true, size: 8 });
    expect(await box.ok('read', { path: 'f', max_size: 6 })).toMatchObject({ content: 'ab\u{1f600}', truncated: true });
    expect(await box.ok('read', { path: 'f', max_size: 8 })).toMatchObject({ truncated: false });
    for (const [path, args] of [
      ['f', { encoding: 'base64' }],
      ['b', {}],
    ] as const) {
      const { content, truncated } = await box.ok('read', { path, max_size: 4, ...args });
      expect([Buffer.from(content, 'base64').length, truncated]).toEqual([4, true]);
    }
  });

  test('max_size is 1 MB unless told otherwise, and may be huge', async () => {
    await using box = await BoundServer.start('classic');
    box.file('f', 'x'.repeat(MB + 1));
    const cut = await box.ok('read', { path: 'f' });
    expect([cut.content.length, cut.truncated, cut.size]).toEqual([MB, true, MB + 1]);
    const whole = await box.ok('read', { path: 'f', max_size: Number.MAX_SAFE_INTEGER });
    expect([whole.content.length, whole.truncated]).toEqual([MB + 1, false]);
  });

  test('filesystem-server/config: the server limit wins over max_size, with a warning in the log', async () => {
    await using box = await BoundServer.start('classic', { env: { FS_MAX_FILE_SIZE: '10' } });
    box.file('d/f', 'line\nline\nline\n');
    expect(await box.ok('read', { path: 'd/f', max_size: 1000 })).toMatchObject({
      content: 'line\nline\n',
      truncated: true,
      size: 15,
      line_count: 3,
    });
    const facts = { client: 'stdio', tool: 'read', dialect: 'classic', path: 'd/f', size: 15, returned: 10, limit: 10 };
    expect(await warnings(box, 1)).toEqual([
      { level: 'warn', time: expect.anything(), msg: 'file truncated', ...facts },
    ]);
    await box.ok('read', { path: 'd/f', start_line: 1, end_line: 1 });
    expect(await warnings(box, 2)).toHaveLength(1);
  });

  test('more than one message can carry is truncated too, never refused', async () => {
    await using box = await BoundServer.start('classic');
    box.file('text', 'x'.repeat(9 * MB));
    box.file('bytes', Buffer.alloc(9 * MB, 0xff));
    for (const path of ['text', 'bytes']) {
      const { content, truncated, size } = await box.ok('read', { path, max_size: 9 * MB });
      expect([truncated, size]).toEqual([true, 9 * MB]);
      expect(content.length).toBeGreaterThan(3 * MB);
    }
    expect(await warnings(box, 2)).toHaveLength(2);
  });
});

test('filesystem-server/read: odd names and links inside the root', async () => {
  await using box = await BoundServer.start('classic');
  const names = ['with space', 'q"u\'o', 'new\nline', '\u65e5\u672c', '%2e%2e', '-rf', '...', 'a\\b', '$HOME', '*'];
  for (const name of names) {
    box.file(name, name);
    expect((await box.ok('read', { path: name })).content).toBe(name);
  }
  box.file('real/f', 'target');
  box.link('../real', 'links/dir');
  box.link(box.host('real/f'), 'absolute');
  expect(await box.ok('read', { path: 'links/dir/f' })).toMatchObject({
    content: 'target',
    metadata: { path: 'links/dir/f' },
  });
  expect((await box.ok('read', { path: 'absolute' })).content).toBe('target');
  expect((await box.ok('read', { path: 'real\\f' })).content).toBe('target');
});
