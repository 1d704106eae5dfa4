import { describe, expect, test } from 'vitest';
import { bytesOf, inQuotes, type Json, joined, jsonBytes, jsonLength, jsonOf } from './json-pieces.ts';

const items = (count: number): unknown[] => Array.from({ length: count }, (_, i) => ({ name: `"é${i}\n`, size: i }));
const text = (json: Json): string => (typeof json === 'string' ? json : json.join(''));

describe('a result', () => {
  test.each([
    { what: 'with short lists', result: { entries: items(3), count: 3 } },
    { what: 'with a long list first', result: { entries: items(1_000), count: 1_000 } },
    { what: 'with a long list last', result: { count: 129, 'a "key"': items(129) } },
    { what: 'with two of them', result: { a: items(256), b: items(257), c: null } },
    { what: 'with what JSON leaves out', result: { a: undefined, b: items(200), c: undefined } },
    { what: 'with holes in its list', result: { a: Array.from({ length: 200 }, () => undefined) } },
  ])('$what is the same in pieces', ({ result }) => {
    const json = jsonOf(result);
    expect(text(json)).toBe(JSON.stringify(result));
    expect(`"${text(inQuotes(json))}"`).toBe(JSON.stringify(JSON.stringify(result)));
    expect(jsonLength(json)).toBe(text(json).length);
    expect(jsonBytes(json)).toBe(Buffer.byteLength(text(json)));
    expect(bytesOf(json).toString()).toBe(text(json));
  });

  test('comes in pieces only where a list is long', () => {
    expect(jsonOf({ entries: items(128) })).toBeTypeOf('string');
    expect(jsonOf({ entries: items(129) })).not.toBeTypeOf('string');
  });
});

test('texts are joined to one, or to one list of pieces', () => {
  expect(joined('a', 'b', 'c')).toBe('abc');
  expect(joined('a', ['b', 'c'], 'd')).toEqual(['a', 'b', 'c', 'd']);
});
