import { expect, test } from 'vitest';
import { outcome } from '../fence/sandbox.fixture.ts';
import { byCodePoint } from '../runtime/code-point-order.ts';
import { base64ToBytes, encodeContent, looksBinary, textToBytes } from './encoding.ts';

test('text stays text, a BOM and NUL bytes too; anything else becomes base64', () => {
  for (const text of ['', 'plain', '\ufeffmark', 'nul\0', '\u{1f600}', '\ufffd']) {
    expect(encodeContent(Buffer.from(text))).toEqual({ content: text, encoding: 'utf-8' });
  }
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    const { content, encoding } = encodeContent(Buffer.from(bytes));
    expect([encoding, [...Buffer.from(content, 'base64')]]).toEqual(['base64', bytes]);
  }
});

test('text that UTF-8 cannot hold is refused, not changed', async () => {
  expect(textToBytes('a\u{1f600}', 'content')).toEqual(Buffer.from('a\u{1f600}'));
  for (const text of ['\ud83d', '\ude00', 'a\ude00\ud83db']) {
    expect(await outcome(() => textToBytes(text, 'content'))).toBe('invalid_encoding');
  }
});

test('binary means a NUL among the first 8,192 bytes', () => {
  const at = (position: number) => Buffer.from(`${'x'.repeat(position)}\0`);
  expect([0, 8191, 8192].map((position) => looksBinary(at(position)))).toEqual([true, true, false]);
  expect(looksBinary(Buffer.alloc(0))).toBe(false);
});

test('names are in code point order, the same whichever two are compared', () => {
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

test('base64 is decoded only in its one proper spelling', async () => {
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
