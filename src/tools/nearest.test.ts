import { expect, test } from 'vitest';
import { growth } from '../runtime/growth.fixture.ts';
import { closest, didYouMean, nearest } from './nearest.ts';

test.each([
  ['paht', 'path'],
  ['READ_FILE', 'read_file'],
  ['readfile', 'read_file'],
  ['x', undefined],
  ['completely_different', undefined],
  ['', undefined],
])('%j means %j', (word, meant) => {
  expect(nearest(word, ['path', 'read_file', 'write_file'])).toBe(meant);
});

test('the hint names the nearest word, or is empty', () => {
  expect(didYouMean('paht', ['path'])).toBe(' (did you mean path?)');
  expect(didYouMean('paht', ['path'], (name) => `files[0].${name}`)).toBe(' (did you mean files[0].path?)');
  expect(didYouMean('x', ['path'])).toBe('');
});

test('a word of a million letters is close to nothing', () => {
  expect(nearest('x'.repeat(1_000_000), ['path'])).toBeUndefined();
});

test('long names are compared to their ends', () => {
  const name = `${'long-name-'.repeat(8)}.txt`;
  const wrong = name.replace('.txt', '.tyt');
  expect(nearest(wrong, ['other', name])).toBe(name);
  expect(closest(wrong, ['other', name, `${name.slice(0, 70)}zzzzzzzzzzzzzz`], { maxEdits: 2, count: 3 })).toEqual([
    name,
  ]);
});

test.each([
  ['mian', ['main', 'maid', 'mail'], ['main']],
  ['abcd', ['abxd', 'abdc', 'acbd', 'xyzw'], ['abxd', 'abdc', 'acbd']],
  ['ab', ['ba', 'xab', 'a', 'cd'], ['ba', 'xab', 'a']],
  ['A', ['a'], ['a']],
  ['', ['x', 'xy'], ['x']],
])('one edit from %j are %j', (word, candidates, found) => {
  const close = closest(word, candidates, { maxEdits: 1, count: 9 });
  expect(close).toEqual(found.filter((each) => candidates.includes(each)));
});

test('the closest come first, and no more than asked for', () => {
  const names = ['xxcdef', 'xbcdef', 'abcdef', 'abcdxx'];
  expect(closest('abcdef', names, { maxEdits: 2, count: 3 })).toEqual(['abcdef', 'xbcdef', 'xxcdef']);
});

test('thousands of long names are compared in time linear in their number', () => {
  const compare = (count: number) => {
    const names = Array.from({ length: count }, (_, i) => `${'xy'.repeat(31)}${i % 10}`);
    closest('yx'.repeat(32), names, { maxEdits: 4, count: 3 });
    closest(`${'xy'.repeat(20)}z${'xy'.repeat(11)}`, names, { maxEdits: 4, count: 3 });
  };
  expect(growth(600, compare)).toBeLessThan(24);
});
