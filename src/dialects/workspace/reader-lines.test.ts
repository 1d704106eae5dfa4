import { describe, expect, test } from 'vitest';
import { charsAsJson, cutAtLine, cutText, MAX_LINE_CHARS, readerLines } from './reader-lines.ts';

const OPTIONS = {
  first: 1,
  maxChars: 100_000,
  start: 0,
  capped: false,
  byteLength: Buffer.byteLength,
  lengthOf: (text: string) => text.length,
};

describe('readerLines', () => {
  test('numbers lines without padding, from the first number on', () => {
    expect(readerLines('a\n\nb', OPTIONS)).toEqual({ text: '1\ta\n2\t\n3\tb', lines: 3, more: false });
    expect(readerLines('a\nb\n', { ...OPTIONS, first: -2 }).text).toBe('-2\ta\n-1\tb');
    expect(readerLines('', OPTIONS)).toEqual({ text: '', lines: 0, more: false });
  });

  test('stops before the line that does not fit, but not before the first', () => {
    expect(readerLines('aa\nbb\ncc', { ...OPTIONS, maxChars: 10 })).toEqual({
      text: '1\taa\n2\tbb',
      lines: 2,
      more: true,
    });
    expect(readerLines('aa\nbb\n', { ...OPTIONS, maxChars: 1 })).toEqual({ text: '1\taa', lines: 1, more: true });
    expect(readerLines('aa\nbb\n', { ...OPTIONS, maxChars: 10 }).more).toBe(false);
  });

  test('cuts a long line and names the byte range of its rest', () => {
    const long = `${'\u20ac'.repeat(MAX_LINE_CHARS)}rest`;
    const { text, lines } = readerLines(`\u00e9\n${long}\nend\n${long}`, { ...OPTIONS, start: 50 });
    const shown = text.split('\n');
    expect(shown).toHaveLength(4);
    expect(lines).toBe(4);
    const restOf = (line: string) => JSON.parse(/its rest: (.*)\]$/.exec(line)?.[1] ?? '');
    const first = 50 + 3 + 3 * MAX_LINE_CHARS;
    expect(restOf(shown[1] as string)).toEqual({ offset_bytes: first, limit_bytes: 4 });
    expect(shown[2]).toBe('3\tend');
    expect(restOf(shown[3] as string).offset_bytes).toBe(first + 4 + 1 + 4 + 3 * MAX_LINE_CHARS);
    expect(readerLines('x'.repeat(MAX_LINE_CHARS), OPTIONS).text).not.toContain('cut');
  });

  test('does not cut a long line inside a character', () => {
    const { text } = readerLines(`x${'\u{1f600}'.repeat(MAX_LINE_CHARS)}`, OPTIONS);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain(`"offset_bytes":${1 + 4 * (MAX_LINE_CHARS / 2 - 1)},`);
  });

  test('leaves out a last line that is not all there, unless it is the only one', () => {
    expect(readerLines('a\nb', { ...OPTIONS, capped: true })).toEqual({ text: '1\ta', lines: 1, more: true });
    expect(readerLines('abc', { ...OPTIONS, capped: true }).text).toBe(
      '1\tabc [line cut here; its rest: {"offset_bytes":3}]',
    );
  });
});

test('cutAtLine keeps whole lines, and at least one', () => {
  expect(cutAtLine('aa\nbb\ncc', 6)).toEqual({ content: 'aa\nbb\n', lines: 2 });
  expect(cutAtLine('aa\nbb\ncc', 5)).toEqual({ content: 'aa\n', lines: 1 });
  expect(cutAtLine('aaaa\nbb\n', 2)).toEqual({ content: 'aaaa\n', lines: 1 });
  expect(cutAtLine('aaaa\n', 2)).toBeUndefined();
  expect(cutAtLine('aaaa', 2)).toBeUndefined();
  expect(cutAtLine('aaaa', 4)).toBeUndefined();
});

test('cutText cuts at a line, else between characters', () => {
  expect(cutText('aa\nbb', 4)).toBe('aa\n');
  expect(cutText('aabb', 3)).toBe('aab');
  expect(cutText('aa\u{1f600}', 3)).toBe('aa');
  expect(cutText('aa', 2)).toBe('aa');
});

test('charsAsJson counts what JSON escapes', () => {
  expect(charsAsJson('abc', 2)).toBe(2);
  expect(charsAsJson('a\n\n\n', 4)).toBe(2);
  expect(charsAsJson('abc\n', 5)).toBe(4);
  for (const maxChars of [1, 10, 99, 400]) {
    const text = '\u0001\n"x'.repeat(100);
    const chars = charsAsJson(text, maxChars);
    expect(JSON.stringify(text.slice(0, chars)).length - 2).toBeLessThanOrEqual(maxChars);
    expect(chars).toBeGreaterThan(maxChars / 6 - 6);
  }
});
