import { describe, expect, test } from 'vitest';
import { firstFitting, fittingContent } from './result-size.ts';

/** What a value takes as structured content and as text, and how much that may be. */
const wire = (value: unknown) => Buffer.byteLength(JSON.stringify(value) + JSON.stringify(JSON.stringify(value))) - 8;
const WANTED = 7.5 * 1024 * 1024;

describe('content', () => {
  test('that fits is not touched', () => {
    for (const content of ['', 'x'.repeat(3_000_000), '\u{1f600}'.repeat(800_000)]) {
      expect(fittingContent(content, 'utf8')).toBe(content);
    }
  });

  test.each([
    ['plain text', 'x'],
    ['line ends', '\r\n'],
    ['control characters', '\u0001\u000b\u007f'],
    ['quotes', '"\\'],
    ['other scripts', '\u00e9\u20ac\u2028\u{1f600}'],
  ])('of %s is cut just where the limit is', (_, text) => {
    const content = text.repeat(Math.ceil(4_000_000 / text.length));
    const kept = fittingContent(content, 'utf8');
    expect(wire(kept)).toBeLessThanOrEqual(WANTED);
    expect(wire(content.slice(0, kept.length + 4))).toBeGreaterThan(WANTED);
  });

  test('is never cut inside a character', () => {
    for (const lead of ['', 'x']) {
      const kept = fittingContent(lead + '\u{1f600}'.repeat(1_200_000), 'utf8');
      expect(kept.at(-1)).toBe('\ude00');
    }
  });

  test('in base64 stays base64', () => {
    const kept = fittingContent(Buffer.alloc(3_500_001, 0xff).toString('base64'), 'base64');
    expect(kept.length % 4).toBe(0);
    expect(Buffer.from(kept, 'base64').every((byte) => byte === 0xff)).toBe(true);
  });
});

test('as many items are kept as fit', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => ({ name: `"${i}"`.padEnd(60) }));
  const kept = firstFitting(items);
  expect(kept.length).toBeGreaterThan(30_000);
  expect(kept).toEqual(items.slice(0, kept.length));
  expect(wire(kept)).toBeLessThan(WANTED * 1.01);
  expect(firstFitting(items.slice(0, 10))).toHaveLength(10);
});
