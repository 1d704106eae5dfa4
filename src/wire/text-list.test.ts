import { expect, test } from 'vitest';
import { TextList, textOf } from './text-list.ts';

test('takes items until the next one would be too much, and none after that', () => {
  const list = new TextList(10);
  expect([list.add('12345\n'), list.add('1234'), list.add('5'), list.add('')]).toEqual([true, true, false, false]);
  expect([list.length, list.text]).toEqual([2, '12345\n1234']);
});

test('takes a first item of any length', () => {
  const list = new TextList(3);
  expect([list.add('12345'), list.add('')]).toEqual([true, false]);
  expect(textOf(list)).toBe('12345');
});

test('only a list of text has a text', () => {
  expect(() => textOf(['a'])).toThrow('not text');
});
