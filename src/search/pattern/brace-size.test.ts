import { braceExpand } from 'minimatch';
import { expect, test } from 'vitest';
import { growth } from '../../runtime/growth.fixture.ts';
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
  ['chained groups', (size: number) => '{a,b}'.repeat(20 * size)],
  ['nested groups', (size: number) => `${'{a,b}{'.repeat(20 * size)}c,d${'}'.repeat(20 * size)}`],
  ['groups before a long text', (size: number) => `${'{a,b}'.repeat(16)}${'x'.repeat(8_000 * size)}`],
  ['ranges with a step', (size: number) => `{1..${9_000 * size}..1}{1..${9_000 * size}..1}`],
])('too many alternatives are refused without expanding them: %s', (_, glob) => {
  const refuse = (size: number) =>
    expect(() => compileGlob(glob(size))).toThrow(expect.objectContaining({ code: 'invalid_pattern' }));
  expect(growth(1, refuse)).toBeLessThan(24);
});
