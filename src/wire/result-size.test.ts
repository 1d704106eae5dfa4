import { describe, expect, test } from 'vitest';
import { numberedLines } from './content-json.ts';
import { firstFitting, MAX_RESULT_BYTES, truncateToFit } from './result-size.ts';

/** Returns the bytes that a value takes as structured content and as text together. */
const wire = (value: unknown) => Buffer.byteLength(JSON.stringify(value) + JSON.stringify(JSON.stringify(value))) - 8;
const WANTED = 7.5 * 1024 * 1024;

const SCRIPTS: [name: string, text: string][] = [
  ['plain text', 'x'],
  ['line ends', '\r\n'],
  ['control characters', '\u0001\u000b\u007f'],
  ['quotes', '"\\'],
  ['other scripts', '\u00e9\u20ac\u2028\u{1f600}'],
];

test('the server limit leaves room for the other fields of a result', () => {
  expect(MAX_RESULT_BYTES).toBeGreaterThan(WANTED);
  expect(MAX_RESULT_BYTES).toBeLessThan(10 * 1024 * 1024);
});

describe('content', () => {
  const json = { encoding: 'utf8', text: 'json' } as const;

  test('that fits is returned unchanged', () => {
    for (const content of ['', 'x'.repeat(3_000_000), '\u{1f600}'.repeat(800_000)]) {
      expect(truncateToFit(content, json)).toBe(content);
    }
  });

  test.each(SCRIPTS)('of %s is cut exactly at the limit', (_, text) => {
    const content = text.repeat(Math.ceil(4_000_000 / text.length));
    const kept = truncateToFit(content, json);
    expect(wire(kept)).toBeLessThanOrEqual(WANTED);
    expect(wire(content.slice(0, kept.length + 4))).toBeGreaterThan(WANTED);
  });

  test.each(SCRIPTS)('of %s that is plain in the text is cut exactly at the limit', (_, text) => {
    const content = text.repeat(Math.ceil(4_000_000 / text.length));
    const kept = truncateToFit(content, { encoding: 'utf-8', text: 'plain' });
    const plain = (sent: string) => 2 * (Buffer.byteLength(JSON.stringify(sent)) - 2);
    expect(plain(kept)).toBeLessThanOrEqual(WANTED);
    expect(plain(content.slice(0, kept.length + 4))).toBeGreaterThan(WANTED);
  });

  test.each(['\n', 'x\n', 'some text\n'])('of lines like %j fits with its line numbers', (line) => {
    const content = line.repeat(Math.ceil(6_000_000 / line.length));
    const kept = truncateToFit(content, { encoding: 'utf-8', text: 'numbered' });
    const text = numberedLines(kept.split('\n'), 1);
    const sent = Buffer.byteLength(JSON.stringify(kept) + JSON.stringify(text));
    expect(sent).toBeLessThanOrEqual(WANTED);
    expect(sent).toBeGreaterThan(WANTED * 0.7);
  });

  test('is never cut inside a character', () => {
    for (const lead of ['', 'x']) {
      const kept = truncateToFit(lead + '\u{1f600}'.repeat(1_200_000), json);
      expect(kept.at(-1)).toBe('\ude00');
    }
  });

  test('in base64 is cut to valid base64', () => {
    const kept = truncateToFit(Buffer.alloc(3_500_001, 0xff).toString('base64'), { encoding: 'base64', text: 'json' });
    expect(kept.length % 4).toBe(0);
    expect(Buffer.from(kept, 'base64').every((byte) => byte === 0xff)).toBe(true);
  });
});

describe('items', () => {
  test('are kept up to the limit', () => {
    const items = Array.from({ length: 100_000 }, (_, i) => ({ name: `"${i}"`.padEnd(60) }));
    const kept = firstFitting(items);
    expect(kept.length).toBeGreaterThan(30_000);
    expect(kept).toEqual(items.slice(0, kept.length));
    expect(wire(kept)).toBeLessThanOrEqual(WANTED);
    expect(firstFitting(items.slice(0, 10))).toHaveLength(10);
  });

  test.each(SCRIPTS)('with %s are measured as they are sent', (_, text) => {
    const item = { name: text.repeat(9), size: 1234.5, big: true, none: null, lines: [text, '', { deep: text }] };
    const items = Array.from({ length: 100_000 }, () => item);
    const kept = firstFitting(items);
    expect(kept.length).toBeLessThan(items.length);
    expect(wire(kept)).toBeLessThanOrEqual(WANTED);
    expect(wire(items.slice(0, Math.ceil(kept.length * 1.05)))).toBeGreaterThan(WANTED);
  });
});
