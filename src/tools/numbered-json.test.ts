import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberedJson } from './numbered-json.ts';
import { numberedLines } from './numbered-lines.ts';

/** Lines as a text ends them: what follows the last end is a line only if it is not empty. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function expectSame(text: string, first: number): void {
  const plain = numberedLines(linesOf(text), first);
  const { json, added } = numberedJson(JSON.stringify(text).slice(1, -1), first);
  expect(`"${json}"`).toBe(JSON.stringify(plain));
  expect(Buffer.byteLength(text) + added).toBe(Buffer.byteLength(plain));
}

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
])('numbers %j as it numbers the text itself', (text) => {
  expectSame(text, 1);
  expectSame(text, 999_999);
});

test('numbers any text as it numbers the text itself', () => {
  const unit = fc.constantFrom('\\', 'n', '\n', '"', 'a', 'ü', '\t');
  const text = fc.oneof(fc.string({ unit, minLength: 1 }), fc.string({ minLength: 1 }));
  fc.assert(fc.property(text, fc.integer({ min: 1, max: 2_000_000 }), expectSame), { numRuns: 500 });
});
