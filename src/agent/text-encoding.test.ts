import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { BridgeError } from './bridge-error.ts';
import { sha256, toBytes } from './handover/handover-file.ts';
import { assertEncoding, decodeBytes, decodeFirst, encodeText } from './text-encoding.ts';

describe('encodings', () => {
  test.each(['utf-8', 'UTF8', 'latin1', 'windows-1252', 'utf-16le', 'utf-16be', 'Shift_JIS', 'gb18030', 'koi8-r'])(
    '%s is known',
    (name) => {
      expect(() => assertEncoding(name)).not.toThrow();
    },
  );

  test.each(['klingon', '', 'base64', 'hex', '__proto__', 'constructor', 'utf-8\n', 'utf 8', 'u'.repeat(100), 7])(
    '%j is unknown, and the error names known ones',
    (name) => {
      const error = thrown(() => assertEncoding(name as string));
      expect(error).toMatchObject({ code: 'unsupported_encoding', errorType: 'validation' });
      expect(error.instruction).toMatch(/utf-8.*latin1.*shift_jis/);
    },
  );
});

describe('text and bytes', () => {
  test.each([
    ['utf-8', 'é€😀'],
    ['latin1', 'café'],
    ['windows-1252', 'café €'],
    ['utf-16le', '\ufeffé😀\ufffd'],
    ['utf-16be', 'é😀'],
    ['shift_jis', '日本語'],
    ['gb18030', '中文😀'],
    ['utf-8', '\ufeffa\r\n'],
  ])('%s encodes and decodes %j', (encoding, text) => {
    const bytes = encodeText(text, encoding);
    expect(bytes).toEqual(iconv.encode(text, encoding, { addBOM: false }));
    expect(decodeBytes(bytes as Buffer, encoding)).toBe(text);
  });

  test.each([
    ['latin1', '€'],
    ['ascii', 'é'],
    ['shift_jis', 'é'],
    ['utf-8', '\ud800'],
    ['utf-16le', 'a\ud800'],
  ])('%s cannot encode %j', (encoding, text) => {
    expect(encodeText(text, encoding)).toBeUndefined();
  });

  test.each([
    ['utf-8', [0xe9]],
    ['utf-8', [0xc0, 0x80]],
    ['shift_jis', [0x82]],
    ['windows-1252', [0x81]],
    ['utf-16le', [0x61]],
    ['utf-16le', [0x00, 0xd8]],
    ['ascii', [0xe9]],
  ])('%s cannot decode %j', (encoding, bytes) => {
    expect(decodeBytes(Buffer.from(bytes), encoding)).toBeUndefined();
  });

  test('the first encoding that decodes is used, and an error names all that were tried', () => {
    const bytes = Buffer.from('café', 'latin1');
    expect(decodeFirst(bytes, ['utf-8', 'latin1', 'ascii'], 'a')).toBe('café');
    const error = thrown(() => decodeFirst(bytes, ['utf-8', 'ascii'], 'docs/a'));
    expect(error.message).toMatch(/utf-8.*ascii.*docs\/a/);
    expect(error.errorType).toBe('validation');
  });
});

describe('toBytes', () => {
  const file = (content: string, more: object = {}) => ({ path: 'docs/a', content, ...more });

  test('returns the same bytes for text and for base64', () => {
    const bytes = Buffer.from('café', 'latin1');
    expect(toBytes(file('café', { encoding: 'latin1' }))).toEqual({ bytes, encoding: 'latin1' });
    const base64 = bytes.toString('base64');
    expect(toBytes(file(base64, { encoding: 'base64' }))).toEqual({ bytes, encoding: undefined });
    expect(toBytes(file(base64, { binary: true }))).toEqual({ bytes, encoding: undefined });
    expect(toBytes(file(base64, { binary: true, encoding: 'latin1' }))).toEqual({ bytes, encoding: 'latin1' });
    expect(toBytes(file('café'))).toEqual({ bytes: Buffer.from('café'), encoding: 'utf-8' });
    expect(sha256(bytes)).toBe('dafd66c0b98965e688be1fc12942c09f0350e6be0685017c3f234e97d0adc92e');
  });

  test('tries the expected encodings if none is stated', () => {
    expect(toBytes(file('café'), ['latin1', 'utf-8'])).toMatchObject({ encoding: 'latin1' });
    expect(toBytes(file('5 €'), ['latin1', 'utf-8'])).toMatchObject({ encoding: 'utf-8' });
    expect(thrown(() => toBytes(file('5 €'), ['latin1', 'ascii'])).message).toMatch(/latin1.*ascii/);
    expect(thrown(() => toBytes(file('5 €', { encoding: 'latin1' }), ['utf-8'])).message).toMatch(/latin1/);
  });

  test.each(['a', 'QUJD=', 'QU JD', 'QUJD\n', 'QU-_', 'QUI', '****'])('refuses %j as base64', (content) => {
    expect(thrown(() => toBytes(file(content, { encoding: 'base64' })))).toMatchObject({
      code: 'invalid_encoding',
      errorType: 'validation',
    });
  });

  test('refuses missing content', () => {
    expect(thrown(() => toBytes(file(undefined as never))).message).toMatch(/content must be a string/);
  });
});

function thrown(run: () => unknown): BridgeError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(BridgeError);
    return error as BridgeError;
  }
  throw new Error('nothing was thrown');
}
