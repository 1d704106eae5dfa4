import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compileRegex, finishesWithin } from './regex.ts';
import { regexSize } from './regex-size.ts';

const letter = (i: number): string => String.fromCodePoint(0x100 + i);

test.each([
  ['thousands of repetitions', Array.from({ length: 1_000 }, (_, i) => `${letter(i)}.{990}`).join('|')],
  ['equal alternatives', Array(1_000).fill('.{990}').join('|')],
  ['optional repetitions', 'x{0,1000}'.repeat(60)],
  ['nested repetitions', '(?:(?:(?:a{9}){9}){9}b)'.repeat(200)],
  ['optional groups', `${'(?:a?){1000}'.repeat(20)}b`],
  ['classes of hundreds of ranges', `[${'\\p{L}'.repeat(13_000)}]`],
  ['folding the case of large ranges', `(?i)[${`${letter(0)}-\u{1e900}`.repeat(10_000)}]`],
  ['folding the case of escaped ranges', '(?i)[\\x{41}-\\x{1E922}]'.repeat(2_000)],
])('%s are refused before they take time to compile', (_what, pattern) => {
  const start = performance.now();
  expect(() => compileRegex(pattern)).toThrow(
    expect.objectContaining({ code: 'invalid_pattern', details: { problem: expect.stringContaining('too large') } }),
  );
  // The parser alone takes up to 40 seconds.
  expect(performance.now() - start).toBeLessThan(1_000);
});

test.each([
  ['operators without operands', '+('.repeat(20_000)],
  ['groups that are not closed', '('.repeat(30_000)],
  ['nested groups', `${'('.repeat(30_000)}${')'.repeat(30_000)}`],
  ['nested repetitions', `${'(?:'.repeat(5_000)}a${')*'.repeat(5_000)}`],
  ['repeated repetitions', 'x{1000}{1000}'],
  ['a megabyte', 'a'.repeat(1_000_000)],
])('%s are an invalid pattern, with a problem that is not long', (_what, pattern) => {
  const details = { problem: expect.stringMatching(/^.{10,420}$/s) };
  expect(() => compileRegex(pattern, true)).toThrow(expect.objectContaining({ code: 'invalid_pattern', details }));
});

test.each([
  ['the longest text', 'a'.repeat(64 * 1024)],
  ['the longest text without case', `${'ab'.repeat(32 * 1024)}`],
  ['many words', Array.from({ length: 7_000 }, (_, i) => `word${i}`).join('|')],
  ['repeated classes', '\\p{L}{1000}\\p{Greek}{1000}[^\\p{N}]{500}'],
])('%s still compile', (_what, pattern) => {
  expect(compileRegex(pattern, true).test('x')).toBe(false);
});

test.each([
  ['a|b|cd', 1],
  ['(a){3}', 1],
  ['x{0,500}y{3,}z{7}', 1],
  ['((ab|c){10}d?){20}', 1.5],
  ['[]a-z]{30}[^]x]{30}[[:alpha:]\\]]{30}', 1],
  ['(?P<name>a{50})(?<other>b{50})(?i:c{50})(?s)d{50}', 1],
  ['\\Qa{9}(\\E{9}\\x{1F600}{90}\\x41{9}a{,9}', 1.5],
])('the size of %s is estimated without parsing it', (pattern, most) => {
  const instructions = RE2JS.compile(pattern).re2().prog.inst.length as number;
  expect(regexSize(pattern)).toBeGreaterThanOrEqual(instructions - 3);
  expect(regexSize(pattern)).toBeLessThanOrEqual(instructions * most);
});

test.each(['(', '[:', '\\Q', '(?P<', '{', '{1', '\\p{', '[a', '(?', '(?i', '\\x{', '[[:a', '\\'])(
  'estimating the size of %s repeated takes linear time',
  (part) => {
    const time = (length: number): number => {
      const pattern = part.repeat(length / part.length);
      const start = performance.now();
      regexSize(pattern);
      return performance.now() - start;
    };
    time(64 * 1024);
    expect(time(64 * 1024)).toBeLessThan(200);
  },
);

test('a function that ends in time has its effects, and what it raises is passed on', () => {
  let ran = false;
  const run = (): void => {
    ran = true;
  };
  expect(finishesWithin(10_000, run)).toBe(true);
  expect(ran).toBe(true);
  const error = new TypeError('mine');
  const fail = (): void => {
    throw error;
  };
  expect(() => finishesWithin(10_000, fail)).toThrow(error);
});

test('a function that does not end is interrupted', () => {
  let turns = 0;
  const forever = (): void => {
    for (;;) turns += 1;
  };
  expect(finishesWithin(20, forever)).toBe(false);
  expect(turns).toBeGreaterThan(0);
});
