import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCallerPath, Root } from '../../fence/index.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { StopFlag } from '../pool/shared-flags.ts';
import { FileSearch } from './file-search.ts';
import { CHUNK_BYTES, MAX_LINE_BYTES } from './line-block-reader.ts';
import { compileLinePattern } from './line-pattern.ts';
import { type LineMatch, MatchList } from './match-list.ts';

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'file-search-'));
let root: Root;
const memory = new SearchMemory();
let buffer: Buffer;

beforeAll(() => {
  root = Root.open('w', top);
  buffer = memory.take(root);
});
afterAll(() => {
  root[Symbol.dispose]();
  fs.rmSync(top, { recursive: true });
});

interface Options {
  /** Searches in ranges of this many bytes. */
  part?: number;
  contextLines?: number;
  maxResults?: number;
  stop?: StopFlag;
}

/** Returns the matches, or undefined for a binary file. */
function search(content: string | Buffer, pattern: string, options: Options = {}): LineMatch[] | undefined {
  const { part, contextLines = 0, maxResults = 1_000_000, stop = new StopFlag() } = options;
  fs.writeFileSync(path.join(top, 'f'), content);
  using file = root.openFile(parseCallerPath('f'));
  const found = new MatchList({ offset: 0, maxResults, maxText: Number.MAX_SAFE_INTEGER });
  const compiled = compileLinePattern({ pattern, literal: false, caseInsensitive: false }, { memory });
  const fixed = { pattern: compiled, contextLines, stop, found, memory, buffer };
  if (part === undefined) return finish(new FileSearch('f', fixed).run(file)) ? found.matches : undefined;
  const matches: LineMatch[] = [];
  let lines = 0;
  for (let from = 0; from < file.size; from += part) {
    const found = new MatchList({ offset: 0, maxResults, maxText: Number.MAX_SAFE_INTEGER });
    const range = { from, to: Math.min(file.size, from + part), end: file.size };
    const inPart = new FileSearch('f', { ...fixed, found, range });
    finish(inPart.run(file));
    for (const match of found.matches) matches.push({ ...match, lineNumber: match.lineNumber + lines });
    lines += inPart.lines;
  }
  return matches;
}

function finish<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const numbersOf = (matches: LineMatch[] | undefined) => matches?.map((match) => match.lineNumber);

test('a line ends at LF or at the end of the file; a CR belongs to the line', () => {
  const matches = search('one x\r\ntwo\n\nthree x', 'x');
  expect(matches?.map(({ lineNumber, lineContent }) => [lineNumber, lineContent])).toEqual([
    [1, 'one x\r'],
    [4, 'three x'],
  ]);
});

test('an empty pattern matches every line; an empty file has no line', () => {
  expect(numbersOf(search('a\n\nb\n', ''))).toEqual([1, 2, 3]);
  expect(search('', '')).toEqual([]);
  expect(numbersOf(search('\n', '^$'))).toEqual([1]);
});

test('a match does not span lines', () => {
  expect(search('foo\nbar\n', '(?s)foo.bar')).toEqual([]);
  expect(search('foo\nbar\n', 'foo\\nbar')).toEqual([]);
  expect(search('foo\nbar\n', 'foo\\s*bar')).toEqual([]);
});

test('bytes that are not UTF-8 are shown as U+FFFD and do not hide the rest of the line', () => {
  const matches = search(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82, 0x0a, 0x62, 0x0a]), 'b');
  expect(matches?.map((match) => match.lineContent)).toEqual(['a\ufffdb\ufffd', 'b']);
});

test('^ matches after a byte order mark', () => {
  expect(numbersOf(search('\ufeffusing x\nusing y\n', '^using'))).toEqual([1, 2]);
});

test('a NUL in the first 8 KB makes a file binary, a later one does not', () => {
  expect(search('needle\n\0', 'needle')).toBeUndefined();
  expect(search(`needle\n${'x'.repeat(8_184)}\0`, 'needle')).toBeUndefined();
  expect(numbersOf(search(`needle\n${'x'.repeat(8_185)}\0`, 'needle'))).toEqual([1]);
});

test('context ends with the file and repeats where matches are close', () => {
  expect(search('1x\n2\n3x\n4\n', 'x', { contextLines: 2 })).toEqual([
    { file: 'f', lineNumber: 1, lineContent: '1x', contextBefore: [], contextAfter: ['2', '3x'] },
    { file: 'f', lineNumber: 3, lineContent: '3x', contextBefore: ['1x', '2'], contextAfter: ['4'] },
  ]);
});

test.each(['x7', '[x]7', '(?:x|y)7'])('lines and context are the same across block boundaries: %s', (pattern) => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i} x${i % 5_003} padding, and more`);
  expect(lines.join('\n').length).toBeGreaterThan(3 * CHUNK_BYTES);
  const expected = lines.flatMap((line, i) =>
    /x7/.test(line)
      ? [
          {
            file: 'f',
            lineNumber: i + 1,
            lineContent: line,
            contextBefore: lines.slice(Math.max(0, i - 40), i),
            contextAfter: lines.slice(i + 1, i + 41),
          },
        ]
      : [],
  );
  expect(search(lines.join('\n'), pattern, { contextLines: 40 })).toEqual(expected);
});

test('stops one match after the limit, with complete context of the last returned match', () => {
  const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} of a long file`);
  const edge = Math.floor(CHUNK_BYTES / 24);
  for (const first of [0, edge - 3, edge - 2, edge - 1, edge]) {
    const marked = lines.map((line, i) => (i === first || i === first + 1 ? `${line}!` : line));
    const matches = search(marked.join('\n'), '!', { contextLines: 500, maxResults: 1 });
    expect(numbersOf(matches)).toEqual([first + 1, first + 2]);
    expect(matches?.[0]?.contextAfter).toEqual(marked.slice(first + 1, first + 501));
  }
});

test('a long line is cut around its match', () => {
  const matches = search(`${'a'.repeat(300_000)}needle${'b'.repeat(300_000)}\nneedle\n`, 'n[e]+dle');
  expect(matches?.map((match) => [match.lineNumber, match.lineTruncated])).toEqual([
    [1, true],
    [2, undefined],
  ]);
  expect(matches?.[0]?.lineContent).toBe(`${'a'.repeat(500)}needle${'b'.repeat(1_494)}`);
});

test.each(['needle', 'ne+dle'])('a line of any length counts as one and matches at any position: %s', (pattern) => {
  const length = 3 * MAX_LINE_BYTES;
  for (const at of [0, MAX_LINE_BYTES - 3, 2 * MAX_LINE_BYTES - 70_000, length - 6]) {
    const long = Buffer.alloc(length, 'a');
    long.write('needle', at);
    const content = Buffer.concat([Buffer.from('before\n'), long, Buffer.from('\nafter\nneedle\n')]);
    const matches = search(content, pattern, { contextLines: 1 });
    expect(numbersOf(matches)).toEqual([2, 4]);
    expect(matches?.[0]).toMatchObject({ lineTruncated: true, contextBefore: ['before'], contextAfter: ['after'] });
    expect(matches?.[0]?.lineContent).toContain('needle');
    expect(matches?.[1]).toMatchObject({ contextBefore: ['after'], contextAfter: [] });
  }
});

test.each(['я', '中', '😀'])('a long line is never cut inside a character such as %s', (character) => {
  const line = `${character.repeat(Math.ceil((MAX_LINE_BYTES + 100_000) / Buffer.byteLength(character)))}\n`;
  for (const start of ['', 'x', 'xx', 'xxx']) {
    expect(search(`${start}${line}`, `[^x${character}]`)).toEqual([]);
    expect(search(`${start}${line}`, '\\x{fffd}')).toEqual([]);
  }
});

test('a line of any length counts as one line of context', () => {
  const content = Buffer.concat([
    Buffer.from('needle\n'),
    Buffer.alloc(2 * MAX_LINE_BYTES + 5, 'a'),
    Buffer.from('\nneedle\n'),
  ]);
  const matches = search(content, 'needle', { contextLines: 2 });
  const shown = 'a'.repeat(2_000);
  expect(matches?.[0]).toMatchObject({ lineNumber: 1, contextAfter: [shown, 'needle'] });
  expect(matches?.[1]).toMatchObject({ lineNumber: 3, contextBefore: ['needle', shown], contextAfter: [] });
});

test('stops soon after the stop flag is raised', () => {
  const stop = new StopFlag();
  stop.raise();
  const content = 'needle\n'.repeat(CHUNK_BYTES);
  expect(search(content, 'needle', { stop })?.length).toBeLessThan(CHUNK_BYTES / 6);
});

describe('in ranges', () => {
  const contents = {
    'LF at the end': 'x1\n2\n\n3 x\nlonger line x with more\n5\n6\nx7\n',
    'no LF at the end': 'one\nx2\nthree\nx',
    'CRLF and empty lines': '\r\nx\r\n\r\n\r\nlast x\r\n\r\n',
    'a byte order mark': '\ufeffx\nÿx\n\ufeffx\n',
    'LFs alone': '\n\n\n\n',
    'one long line': `${'abc'.repeat(20)}x${'def'.repeat(20)}`,
  };

  test.each(Object.entries(contents))('the result does not depend on where ranges begin: %s', (_, content) => {
    for (const pattern of ['x', '^x', '^', 'x$', '[x]']) {
      for (const contextLines of [0, 1, 3]) {
        const whole = search(content, pattern, { contextLines });
        for (let part = 1; part <= content.length; part += 1)
          expect(search(content, pattern, { contextLines, part }), `parts of ${part}`).toEqual(whole);
      }
    }
  });

  test.each(['x7', '[x]7'])('lines, line numbers and context are the same across ranges and blocks: %s', (pattern) => {
    const content = Array.from({ length: 60_000 }, (_, i) => `${i} x${i % 503} padding`).join('\n');
    const whole = search(content, pattern, { contextLines: 40 });
    expect(whole?.length).toBeGreaterThan(1_000);
    for (const part of [100_000, CHUNK_BYTES, CHUNK_BYTES + 1])
      expect(search(content, pattern, { contextLines: 40, part })).toEqual(whole);
  });

  test('a line longer than a range belongs to the range in which it starts, also as context', () => {
    const length = 2 * MAX_LINE_BYTES + 70_000;
    for (const at of [0, MAX_LINE_BYTES - 3, length - 6]) {
      const long = Buffer.alloc(length, 'a');
      long.write('needle', at);
      const content = Buffer.concat([Buffer.from('before\n'), long, Buffer.from('\nafter\nneedle\n')]);
      const whole = search(content, 'needle', { contextLines: 2 });
      expect(numbersOf(whole)).toEqual([2, 4]);
      for (const part of [1_000_000, MAX_LINE_BYTES, length + 8])
        expect(search(content, 'needle', { contextLines: 2, part })).toEqual(whole);
    }
  });

  test('the context of the last returned match is complete even if it lies in the next range', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i} ${i === 498 || i === 499 ? '!' : ''}`);
    const content = lines.join('\n');
    const part = content.indexOf('line 500');
    const matches = search(content, '!', { contextLines: 100, maxResults: 1, part });
    expect(numbersOf(matches)).toEqual([499, 500]);
    expect(matches?.[0]?.contextAfter).toEqual(lines.slice(499, 599));
  });
});
