import { expect, test } from 'vitest';
import { excerpt, excerptAround, MAX_SHOWN } from './excerpt.ts';
import { compileLinePattern } from './line-pattern.ts';

test('a line that fits is shown whole', () => {
  expect(excerpt('x'.repeat(MAX_SHOWN))).toEqual({ text: 'x'.repeat(MAX_SHOWN), cut: false });
  const faces = '😀'.repeat(MAX_SHOWN);
  expect(excerpt(faces, 3)).toEqual({ text: faces, cut: false });
});

test('a longer line is cut around the match', () => {
  const line = `${'a'.repeat(5_000)}MATCH${'b'.repeat(5_000)}`;
  const { text, cut } = excerpt(line, 5_000);
  expect(cut).toBe(true);
  expect(text).toBe(`${'a'.repeat(500)}MATCH${'b'.repeat(1_495)}`);
});

test('a match near either end of the line is shown with as much text as fits', () => {
  const line = `${'a'.repeat(5_000)}END`;
  expect(excerpt(line, 5_000).text).toBe(`${'a'.repeat(MAX_SHOWN - 3)}END`);
  expect(excerpt(`TOP${'a'.repeat(5_000)}`, 0).text).toBe(`TOP${'a'.repeat(MAX_SHOWN - 3)}`);
});

test('characters beyond U+FFFF count once and are not split', () => {
  for (const lead of ['', 'x']) {
    const line = `${lead}${'😀'.repeat(6_000)}MATCH${'😀'.repeat(6_000)}`;
    const { text, cut } = excerpt(line, line.indexOf('MATCH'));
    expect(cut).toBe(true);
    expect(Array.from(text)).toHaveLength(MAX_SHOWN);
    expect(text).toBe(`${'😀'.repeat(500)}MATCH${'😀'.repeat(1_495)}`);
  }
});

test('lines with and without characters beyond U+FFFF are cut at the same place', () => {
  for (const at of [0, 300, 2_100, 9_000, 9_995]) {
    const line = `${'a'.repeat(at)}MATCH${'b'.repeat(9_995 - at)}`;
    const withFace = excerpt(`${line.slice(0, at)}😀${line.slice(at + 1)}`, at);
    expect({ ...withFace, text: withFace.text.replace('😀', 'M') }).toEqual(excerpt(line, at));
  }
});

test.each([
  ['a', 'b'],
  ['é', '€'],
  ['😀', '😀'],
])('an excerpt of a very long line surrounds the match and splits no character: %s', (before, after) => {
  const pattern = compileLinePattern({ pattern: 'MA(\\w+)', literal: false, caseInsensitive: false });
  for (let shift = 0; shift < 4; shift += 1) {
    const lead = `x\n${'.'.repeat(shift)}${before.repeat(100_000)}`;
    const bytes = Buffer.from(`${lead}MATCH${after.repeat(100_000)}\nx`);
    const line = { start: 2, at: Buffer.byteLength(lead) + 4, end: bytes.length - 2 };
    const whole = { text: `${before.repeat(500)}MATCH${after.repeat(1_495)}`, cut: true };
    expect(excerptAround(bytes, line, pattern)).toEqual(whole);
  }
});

test('the end of a match is shown if the match is longer than the limit', () => {
  const pattern = compileLinePattern({ pattern: 'ab{50,}c', literal: false, caseInsensitive: false });
  const bytes = Buffer.from(`a${'b'.repeat(50_000)}c${'d'.repeat(50_000)}\n`);
  const { text, cut } = excerptAround(bytes, { start: 0, at: 50_001, end: 100_002 }, pattern);
  expect({ text, cut }).toEqual({ text: `${'b'.repeat(500)}c${'d'.repeat(1_499)}`, cut: true });
});

test('an excerpt of a very long line that starts with continuation bytes shows nothing of the previous line', () => {
  const pattern = compileLinePattern({ pattern: 'MATCH', literal: false, caseInsensitive: false });
  const long = Buffer.concat([Buffer.from([0x80, 0x80]), Buffer.from(`MATCH${'x'.repeat(20_000)}`)]);
  const bytes = Buffer.concat([Buffer.from('before\n'), long]);
  const { text } = excerptAround(bytes, { start: 7, at: 9, end: bytes.length }, pattern);
  expect(text).not.toContain('\n');
  expect(text).toContain('MATCH');
});

test.each([
  ['.*needle', `S${'x'.repeat(20_000)}`],
  ['^.*needle', `S${'x'.repeat(20_000)}`],
  ['x+needle', `S${'x'.repeat(20_000)}`],
  ['\\bneedle', `${'x'.repeat(11_999)}needle ${'x'.repeat(7_994)} `],
])(
  'an excerpt of a very long line shows the match, not text that matches only where the line is cut: %s',
  (source, before) => {
    const pattern = compileLinePattern({ pattern: source, literal: false, caseInsensitive: false });
    const bytes = Buffer.from(`${before}needle${'y'.repeat(20_000)}`);
    for (const shift of [0, 1, 2, 3, 4, 5, 6]) {
      const at = before.length + shift;
      const { text } = excerptAround(bytes, { start: 0, at, end: bytes.length }, pattern);
      expect(text).toContain('needley');
    }
  },
);
