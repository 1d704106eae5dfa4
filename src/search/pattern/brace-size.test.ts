import { braceExpand } from 'minimatch';
import { expect, test } from 'vitest';
import { braceSize } from './brace-size.ts';
import { compileGlob } from './glob-pattern.ts';

test.each([
  'a',
  'a{b,c}d',
  '{a,b}{c,d,e}/{f,g}',
  '{a,{b,c}{d,e},f}x',
  'a{b}c',
  '{{a,b}}',
  '{1..9}x{a..e..2}',
  '{-3..3}',
  '$' + '{a,b}',
  'x\\{a,b\\}{c,d}',
  '{a,b\\,c}',
  'a}{b,c}',
  '{a,b,}x',
  '{ä,bb}',
])('braceSize counts the alternatives of %s and their length', (glob) => {
  const expanded = braceExpand(glob);
  const { alternatives, length } = braceSize(glob);
  expect(alternatives).toBe(expanded.length);
  const actual = expanded.reduce((total, each) => total + each.length, 0);
  // An escaped character counts with its backslash; a range with its longest value.
  expect(length).toBeGreaterThanOrEqual(actual);
  expect(length).toBeLessThanOrEqual(actual * 2 + 2);
});

test.each([
  ['chained groups', '{a,b}'.repeat(100)],
  ['nested groups', `${'{a,b}{'.repeat(90)}c,d${'}'.repeat(90)}`],
  ['groups before a long text', `${'{a,b}'.repeat(16)}${'x'.repeat(60_000)}`],
  ['ranges with a step', '{1..9000..1}{1..9000..1}'],
])('too many alternatives are refused without expanding them: %s', (_, glob) => {
  const started = performance.now();
  expect(() => compileGlob(glob)).toThrow(expect.objectContaining({ code: 'invalid_pattern' }));
  expect(performance.now() - started).toBeLessThan(100);
});
