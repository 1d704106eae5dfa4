import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeLines } from './merge-lines.ts';

const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`);
const shown = before.with(4, 'five\n').with(19, 'twenty\n');
const back = before.with(19, 'twenty\n');

test('keeps what changed elsewhere since, and finds its lines where they are now', () => {
  const now = ['first\n', ...shown.with(9, 'ten\n')];
  expect(mergeLines(shown, now, back)).toEqual({ lines: ['first\n', ...back.with(9, 'ten\n')] });
});

test('of an unchanged text is what was wanted', () => {
  expect(mergeLines(shown, shown, back)).toEqual({ lines: back });
  expect(mergeLines(shown, shown, [])).toEqual({ lines: [] });
});

test.each([
  ['the same line', shown.with(4, 'FIVE\n')],
  ['the next line', shown.with(5, 'SIX\n')],
  ['a line that is gone', shown.toSpliced(4, 1)],
  ['a line before it', shown.toSpliced(4, 0, 'four and a half\n')],
  ['the whole text', []],
])('is refused if %s has changed since', (_, now) => {
  expect(mergeLines(shown, now, back)).toEqual({ conflicts: [expect.any(Number)] });
});

test('names the line that both changed', () => {
  expect(mergeLines(shown, shown.with(4, 'FIVE\n'), back)).toEqual({ conflicts: [5] });
});

test('takes what somebody else has taken back already for done', () => {
  expect(mergeLines(shown, back, back)).toEqual({ lines: back });
});

test('of changes that are apart has both, whichever side is which', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n');
  const text = fc.array(line, { minLength: 2, maxLength: 20 });
  const APART = ['1\n', '2\n', '3\n'];
  fc.assert(
    fc.property(text, text, text, text, (top, bottom, newTop, newBottom) => {
      const merged = { lines: [...newTop, ...APART, ...newBottom] };
      const [base, a, b] = [
        [top, bottom],
        [newTop, bottom],
        [top, newBottom],
      ].map(([first = [], last = []]) => [...first, ...APART, ...last]) as [string[], string[], string[]];
      expect(mergeLines(base, a, b)).toEqual(merged);
      expect(mergeLines(base, b, a)).toEqual(merged);
    }),
  );
});

test('of long texts of lines that are all alike ends soon', () => {
  const base = Array.from({ length: 50_000 }, () => '\n');
  const merged = mergeLines(base, base.with(10, 'ours\n'), base.with(40_000, 'theirs\n'));
  expect(merged).toEqual({ lines: base.with(10, 'ours\n').with(40_000, 'theirs\n') });
});
