import { expect, test } from 'vitest';
import { RingfenceError } from '../../errors.ts';
import { compileLinePattern, type LinePattern } from './line-pattern.ts';

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

/** The numbers of the matching lines, counted from 0. */
function linesOf(pattern: LinePattern, text: string): number[] {
  const region = Buffer.from(text);
  const scan = pattern.scan(region);
  const found: number[] = [];
  for (let from = 0; from < region.length; ) {
    const at = scan.next(from);
    if (at === -1) break;
    found.push(region.subarray(0, at).toString().split('\n').length - 1);
    const lf = region.indexOf('\n', at);
    from = lf === -1 ? region.length : lf + 1;
  }
  return found;
}

test('plain text has no special characters', () => {
  expect(linesOf(compile('a.b(', { literal: true }), 'xaxb(x\nxa.b(x\n')).toEqual([1]);
  expect(linesOf(compile('A.B(', { literal: true, caseInsensitive: true }), 'xaxb(x\nxa.b(x\n')).toEqual([1]);
  expect(linesOf(compile('', { literal: true }), 'a\n\nb')).toEqual([0, 1, 2]);
});

test('text alone is not confused with text and a condition, nor with text that no line can hold', () => {
  const text = 'TODO\nx TODO\nTODO x\nTODOs\nDONE\nTODO\r\nx';
  expect(linesOf(compile('TODO'), text)).toEqual([0, 1, 2, 3, 5]);
  expect(linesOf(compile('^TODO'), text)).toEqual([0, 2, 3, 5]);
  expect(linesOf(compile('TODO$'), text)).toEqual([0, 1]);
  expect(linesOf(compile('TODO\\b'), text)).toEqual([0, 1, 2, 5]);
  expect(linesOf(compile('TODO|DONE'), text)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(linesOf(compile('TODO\\nx'), text)).toEqual([]);
  expect(linesOf(compile('todo', { caseInsensitive: true }), text)).toEqual([0, 1, 2, 3, 5]);
});

test('case-insensitive matching knows the Kelvin sign and the long s', () => {
  expect(linesOf(compile('k', { caseInsensitive: true }), 'x\n\u212a\nK')).toEqual([1, 2]);
  expect(linesOf(compile('task', { caseInsensitive: true }), 'x\nta\u017f\u212a\nTASK\ntask')).toEqual([1, 2, 3]);
});

test('finds the place of a match in short and in very long texts', () => {
  const pattern = compile('b+');
  expect(pattern.positionIn(`${'a'.repeat(100)}bbb`)).toBe(100);
  expect(pattern.positionIn(`${'a'.repeat(100_000)}bbb${'a'.repeat(100_000)}`)).toBe(100_000);
});
