import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

function split(...chunks: readonly (string | Buffer)[]): string[] {
  const lines = new LineSplitter();
  return [...chunks.flatMap((chunk) => lines.add(Buffer.from(chunk))), ...lines.end()];
}

test('lines that chunks cut anywhere come whole, also in the middle of a character', () => {
  const bytes = Buffer.from('ä1\nb€\r\n\nlast');
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(split(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['ä1', 'b€', '', 'last']);
  }
});

test('a line is passed on once it has ended, and the rest at the end', () => {
  const lines = new LineSplitter();
  expect(lines.add(Buffer.from('a\nb'))).toEqual(['a']);
  expect(lines.end()).toEqual(['b']);
  expect(lines.end()).toEqual([]);
  expect(split('a\n')).toEqual(['a']);
});

test('a stream without line breaks is passed on in parts, of which nothing is missing', () => {
  const part = 'x'.repeat(600 * 1024);
  const parts = split(part, part, part, part, '\n');
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.join('')).toBe(part.repeat(4));
});
