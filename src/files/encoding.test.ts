import { expect, test } from 'vitest';
import { outcome } from '../fence/sandbox.fixture.ts';
import { byCodePoint } from '../runtime/unicode.ts';
import { base64ToBytes, encodeContent, looksBinary, textToBytes } from './encoding.ts';

test('valid UTF-8, with a BOM or NUL bytes too, is returned as text; anything else as base64', () => {
  for (const text of ['', 'plain', '\ufeffmark', 'nul\0', '\u{1f600}', '\ufffd']) {
    expect(encodeContent(Buffer.from(text))).toEqual({ content: text, encoding: 'utf-8' });
  }
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    const { content, encoding } = encodeContent(Buffer.from(bytes));
    expect([encoding, [...Buffer.from(content, 'base64')]]).toEqual(['base64', bytes]);
  }
});

test('a text with a lone surrogate is refused, not changed', async () => {
  expect(textToBytes('a\u{1f600}', 'content')).toEqual(Buffer.from('a\u{1f600}'));
  for (const text of ['\ud83d', '\ude00', 'a\ude00\ud83db']) {
    expect(await outcome(() => textToBytes(text, 'content'))).toBe('invalid_encoding');
  }
});

test('a NUL among the first 8,192 bytes makes a file binary', () => {
  const at = (position: number) => Buffer.from(`${'x'.repeat(position)}\0`);
  expect([0, 8191, 8192].map((position) => looksBinary(at(position)))).toEqual([true, true, false]);
  expect(looksBinary(Buffer.alloc(0))).toBe(false);
});

test('byCodePoint sorts by code point and is antisymmetric', () => {
  const sorted = [
    '',
    '\t',
    'A',
    'B',
    'a',
    'aa',
    'ab',
    '\u00e9',
    '\ue000',
    '\uff01',
    '\uff01a',
    '\u{10000}',
    '\u{1f600}',
  ];
  expect(sorted.toReversed().sort(byCodePoint)).toEqual(sorted);
  for (const a of sorted) for (const b of sorted) expect(byCodePoint(a, b)).toBe(-byCodePoint(b, a) + 0);
});

test('only canonical base64 is decoded', async () => {
  for (const bytes of [[], [0], [0, 255], [1, 2, 3], [251, 255]]) {
    expect([...base64ToBytes(Buffer.from(bytes).toString('base64'), 'content')]).toEqual(bytes);
  }
  for (const text of [
    'Y',
    'YQ',
    'YQ=',
    'YQ===',
    'YR==',
    'YQ==\n',
    ' YQ==',
    'Y Q==',
    '-_-_',
    'YQ==YQ==',
    '=',
    '\u00e9',
  ]) {
    expect([text, await outcome(() => base64ToBytes(text, 'content'))]).toEqual([text, 'invalid_encoding']);
  }
});
