import { expect, test } from 'vitest';
import { heldName, isOfOtherLease, leasedName, temporaryName } from './index.ts';

const DIR = { canMarkInUse: true };

test('the temporary file of every other holder of a lease is told from that of the holder, whoever has the larger token', () => {
  const names = [1, 2, 3].map((token) => leasedName(DIR, 'f', token));
  expect(names.map((name) => isOfOtherLease(name, 'f', 2))).toEqual([true, false, true]);
  expect(names.map((name) => isOfOtherLease(name, 'g', 2))).toEqual([false, false, false]);
  expect(isOfOtherLease(temporaryName(DIR), 'f', 2)).toBe(false);
});

test('a name that a caller has chosen is not taken for that of a lease', () => {
  const end = /-lease-.*$/.exec(leasedName(DIR, 'f', 1))?.[0];
  expect(isOfOtherLease(`x${end}`, 'f', 2)).toBe(false);
  expect(isOfOtherLease(heldName(`x${end}`), 'f', 2)).toBe(false);
  expect(isOfOtherLease(`${temporaryName()}${end}.txt`, 'f', 2)).toBe(false);
});
