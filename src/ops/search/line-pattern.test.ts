import { expect, test } from 'vitest';
import { RingfenceError } from '../../errors.ts';
import { compileLinePattern } from './line-pattern.ts';

const compile = (pattern: string, { literal = false, caseInsensitive = false } = {}) =>
  compileLinePattern({ pattern, literal, caseInsensitive });

function problemOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof RingfenceError && error.code === 'invalid_pattern')
      return (error.details as { problem: string }).problem;
    throw error;
  }
  throw new Error('nothing was raised');
}

test('a wrong pattern is told of in the words of Go', () => {
  expect(problemOf(() => compile('[invalid'))).toBe('error parsing regexp: missing closing ]: `[invalid`');
  expect(problemOf(() => compile('a(?=b)'))).toMatch(/^error parsing regexp: /);
  expect(problemOf(() => compile('x'.repeat(70_000)))).toMatch(/longer than/);
});

test('plain text has no special characters', () => {
  const pattern = compile('a.b(', { literal: true });
  expect(pattern.test('xa.b(x')).toBe(true);
  expect(pattern.test('xaxb(x')).toBe(false);
  expect(compile('A.B(', { literal: true, caseInsensitive: true }).test('xa.b(x')).toBe(true);
});

test('a needle suffices only where the pattern is nothing but that text on one line', () => {
  expect(compile('TODO').needleSuffices).toBe(true);
  expect(compile('a.b', { literal: true }).needleSuffices).toBe(true);
  for (const pattern of ['^TODO', 'TODO$', 'TODO\\b', 'TODO\\nx', 'TODO|DONE', '']) {
    expect(compile(pattern).needleSuffices, pattern).toBe(false);
  }
  expect(compile('TODO', { caseInsensitive: true }).needleSuffices).toBe(false);
});

test('case-insensitive matching knows the Kelvin sign and the long s', () => {
  expect(compile('k', { caseInsensitive: true }).test('\u212a')).toBe(true);
  expect(compile('S', { caseInsensitive: true }).test('\u017f')).toBe(true);
});

test('finds the place of a match in short and in very long texts', () => {
  const pattern = compile('b+');
  expect(pattern.positionIn(`${'a'.repeat(100)}bbb`)).toBe(100);
  expect(pattern.positionIn(`${'a'.repeat(100_000)}bbb${'a'.repeat(100_000)}`)).toBe(100_000);
});
