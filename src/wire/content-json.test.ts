import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentJson, numberedContent, plainJson } from './content-json.ts';
import { jsonByteLength, jsonBytes } from './json-chunks.ts';

function expectSame(content: string, first: number): void {
  const text = numberedContent(content, first);
  const { plain, numbered, added } = contentJson(content, first);
  expect(`"${jsonBytes(plain)}"`).toBe(JSON.stringify(content));
  expect(`"${jsonBytes(numbered)}"`).toBe(JSON.stringify(text));
  expect(Buffer.byteLength(content) + added).toBe(Buffer.byteLength(text));
  expect(jsonBytes(plainJson(content)).equals(jsonBytes(plain))).toBe(true);
}

test('a content of any length is numbered, wherever its parts are cut', () => {
  const line = fc.constantFrom('', 'a "b" \\n', 'ü🙂\r', `${'x'.repeat(40_000)}\\`, '\t\u0000'.repeat(500));
  const content = fc.array(line, { minLength: 1, maxLength: 60 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(content, fc.integer({ min: 1, max: 2_000_000 }), (text, first) => {
      if (text !== '') expectSame(text, first);
    }),
  );
});

test.each(['\n', 'a\n', 'line\n'.repeat(30_000), 'line\n'.repeat(30_000).trimEnd(), 'x'.repeat(100_000)])(
  'a content with or without a final line feed (%#)',
  (content) => {
    expectSame(content, 1);
    // The line number becomes wider within the first part; later parts must use the new width.
    expectSame(content, 999_990);
  },
);

test('a long content comes in chunks, a short one does not', () => {
  expect(plainJson('short\n')).toBe('short\\n');
  const chunks = plainJson('line\n'.repeat(30_000));
  expect(chunks).toBeInstanceOf(Array);
  expect(chunks.length).toBeGreaterThan(3);
  expect(jsonByteLength(chunks)).toBe('line\\n'.length * 30_000);
});

test.each([
  'a',
  '\n',
  'a\n',
  'a\nb',
  '\n\n',
  'a\\n',
  '\\',
  '\\\n',
  '\\\\\n\\n\n',
  '"\n"',
  '\t\r\n',
  '\u0000\n',
  'ü\n🙂',
])('%j is numbered as by numberedContent', (text) => {
  expectSame(text, 1);
  expectSame(text, 999_999);
});

test('any text is numbered as by numberedContent', () => {
  const unit = fc.constantFrom('\\', 'n', '\n', '"', 'a', 'ü', '\t');
  const text = fc.oneof(fc.string({ unit, minLength: 1 }), fc.string({ minLength: 1 }));
  fc.assert(fc.property(text, fc.integer({ min: 1, max: 2_000_000 }), expectSame), { numRuns: 500 });
});
