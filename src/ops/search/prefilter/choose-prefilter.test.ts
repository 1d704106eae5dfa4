import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { programOf } from '../automaton/program.ts';
import { choosePrefilter } from './choose-prefilter.ts';

/** Where the chosen prefilter finds something in a text, -1 for nowhere, or undefined if none pays. */
function firstIn(pattern: string, text: string): number | undefined {
  const regex = RE2JS.compile(pattern);
  return choosePrefilter(regex, programOf(regex))?.(Buffer.from(text)).next(0);
}

const FILLER = 'some line of text, 12 words long\n'.repeat(20);

test.each([
  ['a literal', 'foo.*barrier', 'barrier'],
  ['a long literal of common letters', 'eeeeeeeeeeeeeeee\\d', 'eeeeeeeeeeeeeeee'],
  ['one of several', '(TODO|FIXME):.*\\d', 'FIXME:'],
  ['a text in any case', '(?i)exception', 'eXcEpTiOn'],
  ['with the Kelvin sign', '(?i)quack', 'QUAC\u212a'],
  ['with the long s', '(?i)squid', '\u017fQUID'],
  ['classes', '[a-z]{2}[0-9]{6}[a-z]{2}', 'ab123456cd'],
  ['a rare byte among classes', '[A-Z]{3}_[A-Z]+', 'ABC_D'],
  ['a date', '\\d{4}-\\d{2}-\\d{2}', '2024-01-31'],
])('finds nothing in text without it, and the place in text with it: %s', (_what, pattern, sample) => {
  expect(firstIn(pattern, FILLER)).toBe(-1);
  const at = firstIn(pattern, `${FILLER}${sample}\n${FILLER}`);
  expect(at).toBeGreaterThanOrEqual(FILLER.length);
  expect(at).toBeLessThan(FILLER.length + Buffer.byteLength(sample));
});

test.each(['\\w+\\s+\\w+', 'e', '[a-z]+', '.*', '^$', '(a|b|c)\\w'])('none pays for %s', (pattern) => {
  expect(firstIn(pattern, FILLER)).toBeUndefined();
});
