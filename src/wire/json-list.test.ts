import { describe, expect, test } from 'vitest';
import { jsonAndEscaped, jsonBytes } from './json-chunks.ts';
import { ITEMS_PER_CHUNK, JsonList } from './json-list.ts';
import { MAX_RESULT_BYTES, MAX_SENT_BYTES } from './result-size.ts';

const item = (at: number) => ({ name: `"é${at}\n`, size: at });

function listOf<T>(items: readonly T[]): JsonList<T> {
  const list = new JsonList<T>();
  for (const each of items) list.add(each);
  return list;
}

describe('JsonList', () => {
  test.each([
    0,
    1,
    2,
    ITEMS_PER_CHUNK - 1,
    ITEMS_PER_CHUNK,
    ITEMS_PER_CHUNK + 1,
    2 * ITEMS_PER_CHUNK,
    5 * ITEMS_PER_CHUNK + 3,
  ])('with %i items equals JSON.stringify', (count) => {
    const items = Array.from({ length: count }, (_, at) => item(at));
    const list = listOf(items);
    expect(list).toHaveLength(count);
    expect(list.toJSON()).toEqual(items);
    for (const rest of [{}, { count, more: [1] }]) {
      const { json, escaped } = jsonAndEscaped({ list, ...rest });
      const expected = JSON.stringify({ list: items, ...rest });
      expect(jsonBytes(json).toString()).toBe(expected);
      expect(`"${jsonBytes(escaped)}"`).toBe(JSON.stringify(expected));
      expect(JSON.stringify({ list, ...rest })).toBe(expected);
    }
  });

  test('is serialized as a string while it is short', () => {
    expect(jsonAndEscaped({ list: listOf([item(1)]) }).json).toBeTypeOf('string');
  });

  test.each([
    ['many short ones', 'x', 1_000_000],
    ['control characters', '\u0001'.repeat(250), 3_000],
    ['few long ones', 'é'.repeat(100_000), 100],
  ])('drops items beyond the size limit: %s', (_, text, count) => {
    const list = listOf(Array.from({ length: count }, () => text));
    expect(list.length).toBeLessThan(count);
    const { json, escaped } = jsonAndEscaped({ list });
    const bytes = jsonBytes(json).length + jsonBytes(escaped).length;
    expect(bytes).toBeLessThan(MAX_RESULT_BYTES);
    expect(bytes).toBeGreaterThan(MAX_SENT_BYTES - 600_000);
    expect(JSON.parse(jsonBytes(json).toString()).list).toHaveLength(list.length);
  });
});

test('stops before its JSON is longer than asked for, but takes a first item of any length', () => {
  const list = new JsonList<string>(10);
  expect([list.add('1234'), list.add('12'), list.add('')]).toEqual([true, false, false]);
  expect([list.length, list.toJSON()]).toEqual([1, ['1234']]);
  const long = new JsonList<string>(3);
  expect([long.add('12345'), long.add('1'), long.length]).toEqual([true, false, 1]);
});
