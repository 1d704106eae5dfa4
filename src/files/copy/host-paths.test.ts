import { expect, test } from 'vitest';
import { isWithin } from './host-paths.ts';

test('isWithin is true below a folder, not for the folder itself or a name with the same prefix', () => {
  expect(isWithin('/a', '/a/b')).toBe(true);
  expect(isWithin('/a', '/a/b/c')).toBe(true);
  expect(isWithin('/a', '/a')).toBe(false);
  expect(isWithin('/a', '/ab')).toBe(false);
  expect(isWithin('/a/b', '/a')).toBe(false);
});

test('isWithin is true for everything below the root of the filesystem', () => {
  expect(isWithin('/', '/a')).toBe(true);
  expect(isWithin('/', '/')).toBe(false);
});
