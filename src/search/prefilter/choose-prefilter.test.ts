import os from 'node:os';
import { RE2JS } from 're2js';
import { afterAll, describe, expect, test } from 'vitest';
import { Root } from '../../fence/index.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { programOf } from '../pattern/program.ts';
import { choosePrefilter } from './choose-prefilter.ts';

const root = Root.open('w', os.tmpdir());
const memory = new SearchMemory();
const buffer = memory.take(root);
afterAll(() => root[Symbol.dispose]());

/**
 * Returns where the chosen prefilter finds a candidate after the first line, -1 for nowhere, or undefined if none pays
 * off.
 */
function firstIn(pattern: string, text: string): number | undefined {
  const regex = RE2JS.compile(pattern);
  const block = buffer.subarray(0, buffer.write(text));
  const from = text.indexOf('\n') + 1;
  return choosePrefilter(regex, programOf(regex), memory)?.(block).next(from);
}

const FILLER = 'some line of text, 12 words long\n'.repeat(20);

describe('SIMD prefilters', () => {
  test.each([
    ['a literal', 'foo.*barrier', 'barrier'],
    ['a long literal of common letters', 'eeeeeeeeeeeeeeee\\d', 'eeeeeeeeeeeeeeee'],
    ['one of several', '(TODO|FIXME):.*\\d', 'FIXME: 1'],
    ['a text in any case', '(?i)exception', 'eXcEpTiOn'],
    ['with the Kelvin sign', '(?i)quack', 'QUAC\u212a'],
    ['with the long s', '(?i)squid', '\u017fQUID'],
    ['classes', '[a-z]{2}[0-9]{6}[a-z]{2}', 'ab123456cd'],
    ['a rare byte among classes', '[A-Z]{3}_[A-Z]+', 'ABC_D'],
    ['a date', '\\d{4}-\\d{2}-\\d{2}', '2024-01-31'],
  ])('finds nothing in text without it, and the position in text with it: %s', (_what, pattern, sample) => {
    expect(firstIn(pattern, FILLER)).toBe(-1);
    const at = firstIn(pattern, `${FILLER}${sample}\n${FILLER}`);
    expect(at).toBeGreaterThanOrEqual(FILLER.length);
    expect(at).toBeLessThan(FILLER.length + Buffer.byteLength(sample));
  });

  test.each(['\\w+\\s+\\w+', '[a-z]+', '.*', '^$', '(a|b|c)\\w+'])('no prefilter pays off for %s', (pattern) => {
    expect(firstIn(pattern, FILLER)).toBeUndefined();
  });
});

test('exact sequences are used even if their bytes are frequent', () => {
  expect(firstIn('e|12', FILLER)).toBe(FILLER.indexOf('\n') + 1 + 'som'.length);
});

test('patterns anchored at the line start use a line-start prefilter', () => {
  expect(firstIn('^[x-z ]+', FILLER)).toBe(-1);
  expect(firstIn('^[x-z ]+', `${FILLER}  x\n`)).toBe(FILLER.length);
});
