import { describe, expect, test } from 'vitest';
import { concatJson, jsonAndEscaped, jsonByteLength, jsonBytes } from './json-chunks.ts';

const items = (count: number): unknown[] => Array.from({ length: count }, (_, i) => ({ name: `"é${i}\n`, size: i }));

describe('a result', () => {
  test.each([
    { what: 'with short lists', result: { entries: items(3), count: 3 } },
    { what: 'with a long list first', result: { entries: items(1_000), count: 1_000 } },
    { what: 'with a long list last', result: { count: 129, 'a "key"': items(129) } },
    { what: 'with two of them', result: { a: items(256), b: items(257), c: null } },
    { what: 'with what JSON leaves out', result: { a: undefined, b: items(200), c: undefined } },
    { what: 'with holes in its list', result: { a: Array.from({ length: 200 }, () => undefined) } },
  ])('$what is serialized as by JSON.stringify', ({ result }) => {
    const { json, escaped } = jsonAndEscaped(result);
    const expected = JSON.stringify(result);
    expect(jsonBytes(json).toString()).toBe(expected);
    expect(`"${jsonBytes(escaped)}"`).toBe(JSON.stringify(expected));
    expect(jsonByteLength(json)).toBe(Buffer.byteLength(expected));
  });

  test('comes in chunks only with a long list', () => {
    expect(jsonAndEscaped({ entries: items(128) }).json).toBeTypeOf('string');
    expect(jsonAndEscaped({ entries: items(129) }).json).not.toBeTypeOf('string');
  });
});

test('concatJson returns a string, or chunks if one part is in chunks', () => {
  expect(concatJson('a', 'b', 'c')).toBe('abc');
  const chunks = concatJson('a', [Buffer.from('b'), Buffer.from('c')], 'd');
  expect(chunks).toHaveLength(4);
  expect(jsonBytes(chunks).toString()).toBe('abcd');
});
