import { expect, test } from 'vitest';
import { isWithin } from './is-within.ts';

test('a folder holds what is below it, not itself nor names that begin like its own', () => {
  expect(isWithin('/a', '/a/b')).toBe(true);
  expect(isWithin('/a', '/a/b/c')).toBe(true);
  expect(isWithin('/a', '/a')).toBe(false);
  expect(isWithin('/a', '/ab')).toBe(false);
  expect(isWithin('/a/b', '/a')).toBe(false);
});

test('the top of the filesystem holds all else', () => {
  expect(isWithin('/', '/a')).toBe(true);
  expect(isWithin('/', '/')).toBe(false);
});
