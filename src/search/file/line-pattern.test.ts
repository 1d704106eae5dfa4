import os from 'node:os';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { RingfenceError } from '../../errors.ts';
import { Root } from '../../fence/index.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { PAUSED } from '../pattern/line-matcher.ts';
import { resumed } from '../pattern/line-patterns.fixture.ts';
import { compileLinePattern, type LinePattern } from './line-pattern.ts';

const root = Root.open('w', os.tmpdir());
const memory = new SearchMemory();
const buffer = memory.take(root);
afterAll(() => root[Symbol.dispose]());

const compile = (pattern: string, { literal = false, caseInsensitive = false } = {}) =>
  compileLinePattern({ pattern, literal, caseInsensitive }, { memory });

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

test('an invalid pattern is reported with the message of Go', () => {
  expect(problemOf(() => compile('[invalid'))).toBe('error parsing regexp: missing closing ]: `[invalid`');
  expect(problemOf(() => compile('a(?=b)'))).toMatch(/^error parsing regexp: /);
  expect(problemOf(() => compile('x'.repeat(70_000)))).toMatch(/longer than/);
});

/** Returns the numbers of the matching lines, counted from 0, and checks that SIMD and plain memory give the same. */
function linesOf(pattern: LinePattern, text: string): number[] {
  const block = Buffer.from(text);
  buffer.set(block);
  const lines = linesIn(pattern, buffer.subarray(0, block.length));
  expect(linesIn(pattern, block)).toEqual(lines);
  return lines;
}

function linesIn(pattern: LinePattern, block: Buffer): number[] {
  const scan = pattern.scan(block);
  const found: number[] = [];
  for (let from = 0; from < block.length; ) {
    const at = resumed(scan.next(from), scan);
    if (at === -1) break;
    found.push(block.subarray(0, at).toString().split('\n').length - 1);
    const lf = block.indexOf('\n', at);
    from = lf === -1 ? block.length : lf + 1;
  }
  return found;
}

test('a literal has no special characters', () => {
  expect(linesOf(compile('a.b(', { literal: true }), 'xaxb(x\nxa.b(x\n')).toEqual([1]);
  expect(linesOf(compile('A.B(', { literal: true, caseInsensitive: true }), 'xaxb(x\nxa.b(x\n')).toEqual([1]);
  expect(linesOf(compile('', { literal: true }), 'a\n\nb')).toEqual([0, 1, 2]);
});

test('a pattern with assertions, or with text that contains LF, is not treated as a literal', () => {
  const text = 'TODO\nx TODO\nTODO x\nTODOs\nDONE\nTODO\r\nx';
  expect(linesOf(compile('TODO'), text)).toEqual([0, 1, 2, 3, 5]);
  expect(linesOf(compile('^TODO'), text)).toEqual([0, 2, 3, 5]);
  expect(linesOf(compile('TODO$'), text)).toEqual([0, 1]);
  expect(linesOf(compile('TODO\\b'), text)).toEqual([0, 1, 2, 5]);
  expect(linesOf(compile('TODO|DONE'), text)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(linesOf(compile('TODO\\nx'), text)).toEqual([]);
  expect(linesOf(compile('todo', { caseInsensitive: true }), text)).toEqual([0, 1, 2, 3, 5]);
});

test('case-insensitive matching includes the Kelvin sign and the long s', () => {
  expect(linesOf(compile('k', { caseInsensitive: true }), 'x\n\u212a\nK')).toEqual([1, 2]);
  expect(linesOf(compile('task', { caseInsensitive: true }), 'x\nta\u017f\u212a\nTASK\ntask')).toEqual([1, 2, 3]);
});

test('finds the position of a match', () => {
  const pattern = compile('b+');
  expect(pattern.positionIn(`${'a'.repeat(100)}bbb`)).toBe(100);
  expect(pattern.positionIn('aaa')).toBeUndefined();
});

/** Patterns that use different prefilters and engines, with words that match or nearly match some of them. */
const PATTERNS = [
  'sparks',
  '(?i)sparks',
  'stork|kiosk|task',
  '(?i)(kiosk|sum)\\d',
  '[0-9a-f]{6}',
  '\\bk\\w+s\\b',
  '^\\S+ k',
  '^[a-q]+ ',
  '(^k|^[st])\\w',
  '(^|x)é',
  'xé.*k$',
];
const LONG = 'a long text with more characters than are compared at once';
const WORDS = [
  'sparks',
  'SPAR\u212a\u017f',
  'spark',
  'kiosk7',
  '\u212aIOS\u212a8',
  'stork',
  'tas',
  'SUM4',
  'c0ffee',
  'c0ffe',
  'xé',
  'k',
];

test('finds the same lines as a line-by-line search', () => {
  const line = fc.array(fc.constantFrom(...WORDS, LONG, LONG.slice(1), LONG.slice(0, -1)), { maxLength: 6 });
  const lines = fc.array(
    line.map((words) => words.join(' ')),
    { maxLength: 12 },
  );
  const patterns = [...PATTERNS, LONG].map((source) => ({ source, pattern: compile(source) }));
  fc.assert(
    fc.property(lines, fc.constantFrom(...patterns), (texts, { source, pattern }) => {
      const simple = new RegExp(source.replace('(?i)', ''), source.startsWith('(?i)') ? 'iu' : 'u');
      const expected = [...texts.keys()].filter((i) => simple.test(texts[i] as string));
      expect(linesOf(pattern, texts.map((text) => `${text}\n`).join(''))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test.each(['in memory', 'elsewhere'])('a long literal that may begin at every byte pauses: %s', (where) => {
  const text = 'a'.repeat(60_000);
  const pattern = compileLinePattern({ pattern: text, literal: true, caseInsensitive: false }, { memory });
  const bytes = Buffer.from(`${`${text.slice(1)}c`.repeat(4)}${text}\n`);
  buffer.set(bytes);
  const scan = pattern.scan(where === 'in memory' ? buffer.subarray(0, bytes.length) : bytes);
  let pauses = 0;
  let at = scan.next(0);
  for (; at === PAUSED; at = scan.resume?.() ?? -1) pauses += 1;
  expect(at).toBeGreaterThanOrEqual(4 * text.length);
  expect(at).toBeLessThan(5 * text.length);
  expect(pauses).toBeGreaterThan(10);
});
