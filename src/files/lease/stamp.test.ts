import type { Stats } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compareStamp, isMovedAway, isSameInode, stampOf } from './stamp.ts';

const FILE = { ino: 7, size: 10, mtimeMs: 1_000, ctimeMs: 2_000, nlink: 1 };
const stats = (changes: Partial<typeof FILE> = {}) => ({ ...FILE, ...changes }) as Stats;
const STAMP = stampOf(stats());
const NONE = stampOf(undefined);

describe('a file in comparison with a stamp', () => {
  test.each([
    ['the very file', stats(), 'same'],
    ['the file after a change of its status', stats({ ctimeMs: 3_000 }), 'same'],
    ['the file as it was cached before it was moved', stats({ ctimeMs: 1_500 }), 'older'],
    ['the file before it was complete', stats({ size: 5 }), 'older'],
    ['the file after another program has written to it', stats({ size: 11, mtimeMs: 1_001 }), 'newer'],
    ['a file that was written later', stats({ ino: 8, mtimeMs: 1_001 }), 'newer'],
    ['a file that was written before', stats({ ino: 8, mtimeMs: 999, ctimeMs: 9_000 }), 'older'],
    ['the file without a name', stats({ nlink: 0 }), 'older'],
    ['none', undefined, 'older'],
  ] as const)('%s', (_, now, expected) => {
    expect(compareStamp(now, STAMP)).toBe(expected);
  });

  test('counts as newer on another machine only if its clock cannot be the reason', () => {
    expect(compareStamp(stats({ ino: 8, mtimeMs: 6_000 }), STAMP, 5_000)).toBe('older');
    expect(compareStamp(stats({ ino: 8, mtimeMs: 6_001 }), STAMP, 5_000)).toBe('newer');
  });

  test('may be what was removed, if the stamp says that there is none', () => {
    expect(compareStamp(undefined, NONE)).toBe('same');
    expect(compareStamp(stats(), NONE)).toBe('newer');
    expect(compareStamp(stats(), NONE, 5_000)).toBe('older');
  });
});

test('a file that was moved away is known by the stamp of its former name, unless it was moved back', () => {
  const stamp = stampOf(undefined, stats());
  expect(compareStamp(undefined, stamp)).toBe('same');
  for (const ctimeMs of [1_000, 2_000]) {
    expect(isMovedAway(stats({ ctimeMs }), stamp)).toBe(true);
    expect(compareStamp(stats({ ctimeMs }), stamp)).toBe('older');
  }
  for (const other of [stats({ ctimeMs: 2_001 }), stats({ ino: 8 })]) {
    expect(isMovedAway(other, stamp)).toBe(false);
    expect(compareStamp(other, stamp)).toBe('newer');
    expect(compareStamp(other, stamp, 5_000)).toBe('older');
  }
  expect([undefined, stats()].map((now) => isMovedAway(now, NONE))).toEqual([false, false]);
  expect(isMovedAway(stats(), STAMP)).toBe(false);
});

test('the file of a stamp is known by its inode', () => {
  expect(isSameInode(stats({ size: 0 }), STAMP)).toBe(true);
  expect(isSameInode(stats({ ino: 8 }), STAMP)).toBe(false);
  expect(isSameInode(undefined, STAMP)).toBe(false);
  expect(isSameInode(stats(), NONE)).toBe(false);
});
