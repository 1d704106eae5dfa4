import { describe, expect, test } from 'vitest';
import type { BridgeError } from '../bridge-error.ts';
import { ChunkSets, type ChunkSetsOptions, type HandoverChunk } from './chunk-sets.ts';
import { sha256 } from './handover-file.ts';

const piece = (content: string, index: number, total: number, more: object = {}): HandoverChunk => {
  const { chunk, ...rest } = more as { chunk?: object };
  return { path: 'docs/a', content, chunk: { index, total, ...chunk }, ...rest };
};

function setsOf(options: Partial<ChunkSetsOptions> = {}) {
  const clock = { now: 0 };
  const sets = new ChunkSets({ maxBytes: 100, now: () => clock.now, ...options });
  return { sets, clock };
}

const textOf = (received: unknown) => (received as { file: { bytes: Buffer } }).file.bytes.toString();

test('chunks in any order make a file, and repeated chunks are ignored', () => {
  const { sets } = setsOf();
  expect(sets.receive('a', piece('three', 2, 3))).toEqual({ received: 1, total: 3 });
  expect(sets.receive('a', piece('three', 2, 3))).toEqual({ received: 1, total: 3 });
  expect(sets.receive('a', piece('one ', 0, 3))).toEqual({ received: 2, total: 3 });
  expect(textOf(sets.receive('a', piece('two ', 1, 3)))).toBe('one two three');
  expect([sets.size, sets.bytes]).toEqual([0, 0]);
  expect(sets.receive('a', piece('one ', 0, 3))).toBe('repeated');
});

test('a chunk with new content after the last one starts the next version of the file', () => {
  const { sets } = setsOf();
  sets.receive('a', piece('1', 0, 2));
  sets.receive('a', piece('2', 1, 2));
  expect(sets.receive('a', piece('3', 0, 2))).toEqual({ received: 1, total: 2 });
  expect(textOf(sets.receive('a', piece('2', 1, 2)))).toBe('32');
});

test('text chunks may split a character; the joined text is encoded', () => {
  const { sets } = setsOf();
  const [high = '', low = ''] = '😀'.split('');
  sets.receive('a', piece(low, 1, 2));
  expect(textOf(sets.receive('a', piece(high, 0, 2)))).toBe('😀');
  sets.receive('b', piece('caf', 0, 2, { encoding: 'latin1' }));
  expect(sets.receive('b', piece('é', 1, 2, { encoding: 'latin1' }))).toEqual({
    file: { bytes: Buffer.from('café', 'latin1'), encoding: 'latin1' },
  });
  sets.receive('c', piece(high, 0, 2));
  expect(() => sets.receive('c', piece('x', 1, 2))).toThrow(/cannot be read as utf-8/);
});

test('each binary chunk is decoded from base64 by itself', () => {
  const { sets } = setsOf();
  const bytes = Buffer.from([0, 255, 1, 254]);
  const parts = [bytes.subarray(0, 1), bytes.subarray(1)].map((part) => part.toString('base64'));
  sets.receive('a', piece(parts[1] as string, 1, 2, { binary: true }));
  expect(sets.receive('a', piece(parts[0] as string, 0, 2, { binary: true }))).toEqual({
    file: { bytes, encoding: undefined },
  });
  expect(() => sets.receive('b', piece('???', 0, 2, { binary: true }))).toThrow(/encoding/);
});

describe('an inconsistent chunk is refused, and earlier chunks stay', () => {
  test.each<[string, HandoverChunk, RegExp]>([
    ['another total', piece('x', 1, 4), /chunk\.total was 3.*is 4/],
    ['other content', piece('x', 0, 3), /chunk\.index 0 was received before/],
    ['another encoding', piece('x', 1, 3, { encoding: 'latin1' }), /encoding and binary/],
    ['bytes after text', piece('eA==', 1, 3, { binary: true }), /encoding and binary/],
    ['another hash of the whole', piece('x', 1, 3, { sha256: 'b'.repeat(64) }), /sha256 must be/],
    ['a hash that is none', piece('x', 1, 3, { sha256: 'abc' }), /sha256 must be a SHA-256/],
    [
      'a wrong hash of the piece',
      piece('x', 1, 3, { chunk: { sha256: sha256(Buffer.from('y')) } }),
      /chunk\.sha256 does not/,
    ],
    ['an index past the end', piece('x', 3, 3), /chunk\.index must be.*0 to 2/],
    ['a negative index', piece('x', -1, 3), /chunk\.index/],
    ['half an index', piece('x', 0.5, 3), /chunk\.index/],
    ['no total', piece('x', 0, 0), /chunk\.total/],
    ['a total beyond all bounds', piece('x', 0, 1e9), /chunk\.total/],
    ['an unknown encoding', piece('x', 1, 3, { encoding: 'klingon' }), /klingon/],
  ])('%s', (_, bad, message) => {
    const { sets } = setsOf();
    sets.receive('a', piece('1', 0, 3, { sha256: sha256(Buffer.from('123')) }));
    expect(() => sets.receive('a', bad)).toThrow(message);
    sets.receive('a', piece('2', 1, 3, { chunk: { sha256: sha256(Buffer.from('2')).toUpperCase() } }));
    expect(textOf(sets.receive('a', piece('3', 2, 3)))).toBe('123');
  });
});

test('a complete file with the wrong hash is dropped', () => {
  const { sets } = setsOf();
  sets.receive('a', piece('1', 0, 2, { sha256: sha256(Buffer.from('12')) }));
  expect(() => sets.receive('a', piece('3', 1, 2))).toThrow(/sha256 does not match/);
  expect(sets.receive('a', piece('1', 0, 2))).toEqual({ received: 1, total: 2 });
});

describe('bounds', () => {
  test('an incomplete set expires after its last chunk', () => {
    const { sets, clock } = setsOf({ ttlMs: 1000 });
    sets.receive('a', piece('1', 0, 3));
    clock.now = 900;
    sets.receive('a', piece('2', 1, 3));
    clock.now = 1800;
    sets.expire();
    expect(sets.size).toBe(1);
    clock.now = 1900;
    expect(sets.receive('a', piece('3', 2, 3))).toEqual({ received: 1, total: 3 });
  });

  test('the default time to live is five minutes', () => {
    const { sets, clock } = setsOf();
    sets.receive('a', piece('1', 0, 3));
    clock.now = 5 * 60_000 - 1;
    sets.expire();
    expect(sets.size).toBe(1);
    clock.now += 1;
    sets.expire();
    expect(sets.size).toBe(0);
  });

  test('the least recently used set is evicted when there are too many bytes', () => {
    const { sets } = setsOf();
    sets.receive('a', piece('x'.repeat(40), 0, 3));
    sets.receive('b', piece('x'.repeat(40), 0, 3));
    sets.receive('a', piece('y'.repeat(40), 1, 3));
    expect([sets.size, sets.bytes]).toEqual([1, 80]);
  });

  test('a new file is refused when too many are incomplete, instead of evicting one', () => {
    const { sets } = setsOf({ maxSets: 2 });
    sets.receive('a', piece('1', 0, 2));
    sets.receive('b', piece('1', 0, 2));
    expect(() => sets.receive('c', piece('1', 0, 2))).toThrow(/2 are unfinished; send their missing chunks/);
    expect(sets.receive('a', piece('2', 1, 2))).toHaveProperty('file');
    expect(sets.receive('c', piece('1', 0, 2))).toEqual({ received: 1, total: 2 });
    expect(sets.receive('b', piece('2', 1, 2))).toHaveProperty('file');
  });

  test('a file larger than the limit is refused at once', () => {
    const { sets } = setsOf();
    sets.receive('a', piece('x'.repeat(60), 0, 9));
    expect(() => sets.receive('a', piece('y'.repeat(60), 1, 9))).toThrow(/120 bytes, the limit is 100/);
    expect([sets.size, sets.bytes]).toEqual([0, 0]);
  });

  test('errors have the type validation', () => {
    const { sets } = setsOf();
    try {
      sets.receive('a', piece('x', 3, 3));
    } catch (error) {
      expect((error as BridgeError).errorType).toBe('validation');
    }
    expect.assertions(1);
  });
});
