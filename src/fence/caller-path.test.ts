import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../errors.ts';
import { isReservedName, parseCallerPath, reservedName } from './caller-path.ts';

describe('parseCallerPath', () => {
  test.each([
    ['', []],
    ['.', []],
    ['/', []],
    ['a', ['a']],
    ['/a/b/', ['a', 'b']],
    ['a//b/./c', ['a', 'b', 'c']],
    ['a/../b', ['b']],
    ['a/b/../../c', ['c']],
    ['a/..', []],
    ['...', ['...']],
    ['..a/a..', ['..a', 'a..']],
    ['%2e%2e', ['%2e%2e']],
    [' ', [' ']],
    ['a\nb', ['a\nb']],
  ])('%j is %j', (raw, segments) => {
    expect(parseCallerPath(raw)).toEqual({ raw, segments });
  });

  test.each([
    ['..', 'outside_root'],
    ['a/../..', 'outside_root'],
    ['../a', 'outside_root'],
    ['/..', 'outside_root'],
    // Back inside by the end, but not on the way.
    ['../root/a', 'outside_root'],
    ['a\0', 'invalid_path'],
    ['\ud800', 'invalid_path'],
    ['a/.ringfence-tmp-1', 'invalid_path'],
    ['.ringfence-tmp-1/a', 'invalid_path'],
  ])('%j is refused as %s', (raw, code) => {
    expect(() => parseCallerPath(raw)).toThrow(expect.objectContaining({ code, path: raw }));
  });

  test('a refused path is one of our errors', () => {
    expect(() => parseCallerPath('..')).toThrow(RingfenceError);
  });
});

test('reserved names are known as such', () => {
  expect(isReservedName(reservedName('x'))).toBe(true);
  expect(isReservedName('.ringfence')).toBe(false);
});
