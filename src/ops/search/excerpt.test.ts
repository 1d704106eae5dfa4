import { expect, test } from 'vitest';
import { excerpt, MAX_SHOWN } from './excerpt.ts';

test('a line that fits is shown whole', () => {
  expect(excerpt('x'.repeat(MAX_SHOWN))).toEqual({ text: 'x'.repeat(MAX_SHOWN), cut: false });
  const faces = '😀'.repeat(MAX_SHOWN);
  expect(excerpt(faces, 3)).toEqual({ text: faces, cut: false });
});

test('a longer one is cut around the match', () => {
  const line = `${'a'.repeat(5_000)}MATCH${'b'.repeat(5_000)}`;
  const { text, cut } = excerpt(line, 5_000);
  expect(cut).toBe(true);
  expect(text).toBe(`${'a'.repeat(500)}MATCH${'b'.repeat(1_495)}`);
});

test('a match near either end is shown with as much as fits', () => {
  const line = `${'a'.repeat(5_000)}END`;
  expect(excerpt(line, 5_000).text).toBe(`${'a'.repeat(MAX_SHOWN - 3)}END`);
  expect(excerpt(`TOP${'a'.repeat(5_000)}`, 0).text).toBe(`TOP${'a'.repeat(MAX_SHOWN - 3)}`);
});

test('characters beyond U+FFFF count once and stay whole', () => {
  for (const lead of ['', 'x']) {
    const line = `${lead}${'😀'.repeat(6_000)}MATCH${'😀'.repeat(6_000)}`;
    const { text, cut } = excerpt(line, line.indexOf('MATCH'));
    expect(cut).toBe(true);
    expect(Array.from(text)).toHaveLength(MAX_SHOWN);
    expect(text).toBe(`${'😀'.repeat(500)}MATCH${'😀'.repeat(1_495)}`);
  }
});
