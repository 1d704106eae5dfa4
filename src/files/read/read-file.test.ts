import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RingfenceError } from '../../errors.ts';
import { isFenceError, parseCallerPath, Root } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { encodeContent } from '../encoding.ts';
import { type ReadRange, readFile, sliceBytes } from './read-file.ts';

const WHOLE: ReadRange = { by: 'whole' };
const MB = 1024 * 1024;

async function read(root: Root, raw: string, range: ReadRange = WHOLE, maxBytes = MB) {
  const { bytes, mtimeMs, start, version, ...rest } = await readFile(
    root,
    parseCallerPath(raw),
    { range, maxBytes },
    DEFAULT_CONTEXT,
  );
  return { ...encodeContent(bytes), ...rest };
}

const lines = (offset: number, limit?: number): ReadRange => ({ by: 'lines', offset, limit });
const bytes = (offset: number, limit?: number): ReadRange => ({ by: 'bytes', offset, limit });

onEveryBackend((open) => {
  test('reads a file whole, byte for byte', async () => {
    using box = open();
    const text = '\ufeffone\r\ntwo\n\n\u{1f600} no newline at the end';
    box.file('a/b.txt', text);
    expect(await read(box.root, 'a/b.txt')).toEqual({
      content: text,
      encoding: 'utf-8',
      size: Buffer.byteLength(text),
      truncated: false,
      binary: false,
    });
  });

  test('an empty file is empty text in every range', async () => {
    using box = open();
    box.file('e', '');
    const empty = { content: '', encoding: 'utf-8', size: 0, truncated: false, binary: false };
    expect(await read(box.root, 'e')).toEqual(empty);
    expect(await read(box.root, 'e', bytes(0, 10))).toEqual(empty);
    expect(await read(box.root, 'e', bytes(7))).toEqual(empty);
    expect(await read(box.root, 'e', lines(1))).toEqual({ ...empty, linesTotal: 0 });
    expect(await read(box.root, 'e', lines(9, 2))).toEqual({ ...empty, linesTotal: 0 });
  });

  test('folders, pipes, missing files and files used as folders raise different codes', async () => {
    using box = open();
    box.folder('d');
    box.file('f');
    execFileSync('mkfifo', [box.host('p')]);
    expect(await outcome(read(box.root, 'd'))).toBe('is_directory');
    expect(await outcome(read(box.root, '.'))).toBe('is_directory');
    expect(await outcome(read(box.root, 'p'))).toBe('special_file');
    expect(await outcome(read(box.root, 'none'))).toBe('not_found');
    expect(await outcome(read(box.root, 'no/ne'))).toBe('not_found');
    expect(await outcome(read(box.root, 'f/x'))).toBe('not_directory');
  });

  test('follows a link that stays inside the root', async () => {
    using box = open();
    box.file('real/f', 'x');
    box.link('../real/f', 'links/l');
    expect((await read(box.root, 'links/l')).content).toBe('x');
  });
});

describe('whole files', () => {
  test('are read up to the limit; a larger file raises too_large with both sizes', async () => {
    using box = new Sandbox('openat2');
    box.file('full', 'x'.repeat(100));
    box.file('over', 'x'.repeat(101));
    expect((await read(box.root, 'full', WHOLE, 100)).content).toHaveLength(100);
    const error = await read(box.root, 'over', WHOLE, 100).catch((e: RingfenceError) => e);
    expect(error).toMatchObject({
      code: 'too_large',
      details: { size: 101, limit: 100 },
      path: 'over',
      root: 'workspace',
    });
  });

  test('with invalid UTF-8 are encoded as base64, without loss', async () => {
    using box = new Sandbox('openat2');
    const latin = Buffer.from('caf\xe9', 'latin1');
    box.file('latin1', latin);
    const { content, encoding, binary } = await read(box.root, 'latin1');
    expect(encoding).toBe('base64');
    expect(binary).toBe(false);
    expect(Buffer.from(content, 'base64').equals(latin)).toBe(true);
  });

  test('are binary with a NUL in the first 8 KB, whichever part is read', async () => {
    using box = new Sandbox('openat2');
    box.file('early', Buffer.concat([Buffer.alloc(8191, 'a'), Buffer.from([0]), Buffer.alloc(10, 'b')]));
    box.file('late', Buffer.concat([Buffer.alloc(8192, 'a'), Buffer.from([0])]));
    expect((await read(box.root, 'early')).binary).toBe(true);
    expect((await read(box.root, 'early', bytes(8195, 2))).binary).toBe(true);
    expect((await read(box.root, 'early', lines(1, 1))).binary).toBe(true);
    expect(await read(box.root, 'late')).toMatchObject({ binary: false, encoding: 'utf-8' });
  });
});

describe('byte ranges', () => {
  test('are exact, and truncated reports whether the file continues', async () => {
    using box = new Sandbox('openat2');
    box.file('f', '0123456789');
    expect(await read(box.root, 'f', bytes(2, 3))).toMatchObject({ content: '234', truncated: true, size: 10 });
    expect(await read(box.root, 'f', bytes(7, 3))).toMatchObject({ content: '789', truncated: false });
    expect(await read(box.root, 'f', bytes(7, 2))).toMatchObject({ content: '78', truncated: true });
    expect(await read(box.root, 'f', bytes(7))).toMatchObject({ content: '789', truncated: false });
    expect(await read(box.root, 'f', bytes(7, 1e9))).toMatchObject({ content: '789', truncated: false });
    expect(await read(box.root, 'f', bytes(10, 5))).toMatchObject({ content: '', truncated: false });
    expect(await read(box.root, 'f', bytes(Number.MAX_SAFE_INTEGER, 5))).toMatchObject({
      content: '',
      truncated: false,
    });
    expect(await read(box.root, 'f', bytes(0, Number.MAX_SAFE_INTEGER))).toMatchObject({ content: '0123456789' });
    expect(await read(box.root, 'f', bytes(0, 4))).not.toHaveProperty('linesTotal');
  });

  test('a range that splits a character is returned exactly, as base64', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'a\u{1f600}b');
    for (const [offset, limit] of [
      [0, 3],
      [2, 4],
    ] as const) {
      const part = await read(box.root, 'f', bytes(offset, limit));
      expect(part.encoding).toBe('base64');
      expect(Buffer.from(part.content, 'base64')).toEqual(Buffer.from('a\u{1f600}b').subarray(offset, offset + limit));
    }
  });

  test('are cut to maxBytes between characters', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'aaa\u{1f600}\u{1f600}');
    for (const maxBytes of [3, 4, 5, 6]) {
      expect(await read(box.root, 'f', bytes(0), maxBytes)).toMatchObject({ content: 'aaa', truncated: true });
      expect(await read(box.root, 'f', bytes(0, 11), maxBytes)).toMatchObject({ content: 'aaa', encoding: 'utf-8' });
    }
    expect(await read(box.root, 'f', bytes(0), 7)).toMatchObject({ content: 'aaa\u{1f600}', truncated: true });
    expect(await read(box.root, 'f', bytes(0), 11)).toMatchObject({ truncated: false });
  });

  test('a limit below one character still returns bytes', async () => {
    using box = new Sandbox('openat2');
    box.file('f', '\u{1f600}\u{1f600}');
    const part = await read(box.root, 'f', bytes(0), 2);
    expect(part).toMatchObject({ encoding: 'base64', truncated: true });
    expect(Buffer.from(part.content, 'base64')).toHaveLength(2);
  });

  test('are read near the end of a sparse file of 5 GB', async () => {
    using box = new Sandbox('openat2');
    const size = 5 * 1024 ** 3;
    const fd = fs.openSync(box.host('big'), 'w');
    fs.ftruncateSync(fd, size);
    fs.writeSync(fd, 'the end', size - 7);
    fs.closeSync(fd);
    const before = process.memoryUsage().rss;
    expect(await read(box.root, 'big', bytes(size - 7, 100))).toMatchObject({
      content: 'the end',
      truncated: false,
      size,
    });
    expect(await read(box.root, 'big', bytes(size - 7, 3))).toMatchObject({ content: 'the', truncated: true });
    expect(await outcome(read(box.root, 'big'))).toBe('too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MB);
  });
});

describe('lines', () => {
  const text = 'one\r\ntwo\n\nfour';

  test('count from 1, end at LF and keep a CR', async () => {
    using box = new Sandbox('openat2');
    box.file('f', text);
    const part = (offset: number, limit?: number) => read(box.root, 'f', lines(offset, limit));
    expect(await part(1, 1)).toMatchObject({ content: 'one\r\n', truncated: true, linesTotal: 4, size: 14 });
    expect(await part(2, 2)).toMatchObject({ content: 'two\n\n', truncated: true, linesTotal: 4 });
    expect(await part(3, 1)).toMatchObject({ content: '\n', truncated: true });
    expect(await part(4, 1)).toMatchObject({ content: 'four', truncated: false });
    expect(await part(2)).toMatchObject({ content: 'two\n\nfour', truncated: false });
    expect(await part(1)).toMatchObject({ content: text, truncated: false });
    expect(await part(5, 3)).toMatchObject({ content: '', truncated: false, linesTotal: 4 });
    expect(await part(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toMatchObject({ content: '', linesTotal: 4 });
  });

  test('a newline at the end does not start another line', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\ntwo\n');
    expect(await read(box.root, 'f', lines(2, 5))).toMatchObject({ content: 'two\n', truncated: false, linesTotal: 2 });
    expect(await read(box.root, 'f', lines(3, 5))).toMatchObject({ content: '', truncated: false, linesTotal: 2 });
  });

  test('are the same wherever a chunk ends', async () => {
    using box = new Sandbox('openat2');
    const chunk = 256 * 1024;
    const first = `${'x'.repeat(chunk - 1)}\n`;
    box.file('f', `${first}second\n${'y'.repeat(chunk)}\nlast`);
    expect(await read(box.root, 'f', lines(2, 1))).toMatchObject({
      content: 'second\n',
      linesTotal: 4,
      truncated: true,
    });
    expect(await read(box.root, 'f', lines(4, 1))).toMatchObject({ content: 'last', truncated: false });
    expect((await read(box.root, 'f', lines(1, 1))).content).toBe(first);
  });

  test('are cut to maxBytes between characters', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'head\n\u00e9\u00e9\u00e9\u00e9\ntail');
    expect(await read(box.root, 'f', lines(2, 1), 5)).toMatchObject({
      content: '\u00e9\u00e9',
      encoding: 'utf-8',
      truncated: true,
      linesTotal: 3,
    });
    expect(await read(box.root, 'f', lines(2, 1), 9)).toMatchObject({ content: '\u00e9\u00e9\u00e9\u00e9\n' });
  });

  test('of a 200 MB file are found in bounded memory', async () => {
    using box = new Sandbox('openat2');
    const fd = fs.openSync(box.host('log'), 'w');
    const block = Buffer.from(
      `${'a log line of about eighty characters, as most of them are, give or take'.padEnd(79)}\n`,
    );
    const mega = Buffer.concat(Array.from({ length: 13107 }, () => block));
    for (let i = 0; i < 200; i += 1) fs.writeSync(fd, mega);
    fs.writeSync(fd, 'the last line');
    fs.closeSync(fd);
    const before = process.memoryUsage().rss;
    const part = await read(box.root, 'log', lines(13107 * 200, 10));
    expect(part).toMatchObject({ content: `${block.toString()}the last line`, linesTotal: 13107 * 200 + 1 });
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * MB);
  });

  test('stop when the call is cancelled', async () => {
    using box = new Sandbox('openat2');
    fs.closeSync(fs.openSync(box.host('big'), 'w'));
    fs.truncateSync(box.host('big'), 20 * 1024 ** 3);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    const options = { range: lines(2, 1), maxBytes: 100 };
    const context = { signal: stop.signal, progress: () => {} };
    expect(await outcome(readFile(box.root, parseCallerPath('big'), options, context))).toBe('cancelled');
  });
});

describe.runIf(process.platform === 'linux')('pseudo-files that report size 0', () => {
  const status = () => Root.open('proc', '/proc/self');

  test('are read whole', async () => {
    using root = status();
    const { content, size, truncated } = await read(root, 'status');
    expect(content).toMatch(/^Name:\t.*\nThreads:/ms);
    expect({ size, truncated }).toEqual({ size: Buffer.byteLength(content), truncated: false });
    expect(await outcome(read(root, 'status', WHOLE, 100))).toBe('too_large');
  });

  test('are truncated after a part', async () => {
    using root = status();
    expect(await read(root, 'status', bytes(0, 5))).toMatchObject({ content: 'Name:', truncated: true });
    expect(await read(root, 'status', lines(1, 1))).toMatchObject({ truncated: true });
    expect(await read(root, 'status', bytes(0))).toMatchObject({ truncated: false });
    const rest = await read(root, 'status', lines(2));
    expect(rest.truncated).toBe(false);
    expect(rest.size).toBeGreaterThan(rest.content.length);
  });
});

test('a read error carries path and root', async () => {
  if (!fs.existsSync('/proc/self/mem')) return;
  using root = Root.open('proc', '/proc/self');
  // Nothing is mapped at address 0, so reading there fails after a successful open.
  const error = await read(root, 'mem', bytes(0, 10)).catch((e: unknown) => e);
  expect(isFenceError(error, 'io_error')).toBe(true);
  expect(error).toMatchObject({ path: 'mem', root: 'proc' });
});

test('capped is reported, and the cut is at the exact byte if requested or if the part is not text', async () => {
  using box = new Sandbox('openat2');
  box.file('text', 'a\u{1f600}\nb');
  box.file('bytes', Buffer.from([0xff, 0xc3, 0xc3, 0xc3]));
  const part = async (raw: string, maxBytes: number, more: object) => {
    const options = { range: lines(1), maxBytes, ...more };
    const { bytes, capped } = await readFile(box.root, parseCallerPath(raw), options, DEFAULT_CONTEXT);
    return [bytes.length, capped];
  };
  expect(await part('text', 4, {})).toEqual([1, true]);
  expect(await part('text', 4, { cut: 'bytes' })).toEqual([4, true]);
  expect(await part('bytes', 3, {})).toEqual([3, true]);
  expect(await part('text', 7, {})).toEqual([7, undefined]);
  expect(await part('text', 4, { range: lines(2) })).toEqual([1, undefined]);
});

test('sliceBytes returns the same parts as readFile', async () => {
  using box = new Sandbox('procfd');
  const contents = ['', 'a', '\n', 'one\ntwo\nthree', 'é\r\n\u{1f600}\n', '\0binary\n', Buffer.from([0xff, 10, 0xfe])];
  const ranges = [WHOLE, bytes(0), bytes(1, 2), bytes(99, 1), lines(1), lines(2, 1), lines(2), lines(9, 9)];
  for (const [i, content] of contents.entries()) {
    box.file(`f${i}`, content);
    for (const range of ranges) {
      for (const maxBytes of [3, MB]) {
        const slice = async () => sliceBytes(Buffer.from(content), { range, maxBytes });
        const cut = await slice().then(({ bytes, start, ...rest }) => ({ ...encodeContent(bytes), ...rest }), codeOf);
        expect(cut).toEqual(await read(box.root, `f${i}`, range, maxBytes).catch(codeOf));
      }
    }
  }
});

function codeOf(error: RingfenceError): string {
  return error.code;
}
