import fc from 'fast-check';
import { PAUSED } from './line-matcher.ts';

/**
 * Parts of patterns: characters of one to four bytes, classes, assertions, case folding, and text that prefilters can
 * find.
 */
const ATOMS = [
  ...['a', 'b', 'k', 's', 'é', 'ß', '😀', '中', 'abc', 'foo', 'bar', 'kiss', '\\x{212a}', '\\x{fffd}', '\\r', '\\n'],
  ...['\\d', '\\w', '\\W', '\\s', '.', '(?s:.)', '[^a]', '[a-c]', '\\pL', '\\PL', '[[:upper:]]', '[一-龥]'],
  ...['[\\x{80}-\\x{2ff}]', '[^ -~]', '[a-z]{3}', '\\d{4}', '\\b', '\\B', '^', '$', '(?m:^)', '(?m:$)', '\\A', '\\z'],
  ...['(?i:k)', '(?i:s)', '(?i:é)', '(?i:ask)'],
];

/** Patterns in RE2 syntax, nearly all of them valid. */
export const patterns: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), fc.constantFrom(...ATOMS)).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}', '{2,}'))
      .map(([a, b]) => `(?:${a})${b}`),
    tie('pattern').map((a) => `(?i:${a})`),
  ),
})).pattern;

const TEXTS = [
  ...[
    'a',
    'b',
    'c',
    'k',
    'K',
    's',
    'S',
    'ſ',
    '\u212a',
    'é',
    'É',
    'ß',
    'ẞ',
    '1',
    '_',
    ' ',
    '\t',
    'Z',
    '\u0080',
    '\ufffd',
  ],
  ...['😀', '中', '\n', '\n', '\r\n', 'abc', 'foo', 'bar', 'kiss', 'KISS', '2024', 'aſ\u212a', '\ufeff'],
].map((text) => Buffer.from(text));

/**
 * Bytes that are not UTF-8: stray bytes, truncated characters, overlong forms, surrogates, code points beyond U+10FFFF.
 */
const BROKEN = [
  ...[[0xff], [0x80], [0xbf], [0xf5], [0xc3], [0xe2], [0xe2, 0x82], [0xf0, 0x9f], [0xf0, 0x9f, 0x98], [0xe0, 0x80]],
  ...[
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
  ],
].map((bytes) => Buffer.from(bytes));

/** Lines as bytes, most of them UTF-8. The last line may have no LF. */
export const texts: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...TEXTS) },
      { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
      { weight: 1, arbitrary: fc.nat(255).map((byte) => Buffer.of(byte)) },
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts));

/** Texts long enough for several blocks, with a second half that differs from the first. */
export const longTexts: fc.Arbitrary<Buffer> = fc
  .tuple(texts, texts, fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 }))
  .map(([a, b, times, more]) => Buffer.concat([...Array(times).fill(a), ...Array(more).fill(b)]));

/** Returns the starts of the lines that match when each is decoded on its own: the reference for the engines. */
export function linesThat(matches: (line: string) => boolean, bytes: Buffer): number[] {
  const found: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf('\n', start);
    const end = lf === -1 ? bytes.length : lf;
    if (matches(bytes.toString('utf8', start, end))) found.push(start);
    start = end + 1;
  }
  return found;
}

/** Something that finds lines, and may pause. */
interface Pausable {
  resume?(): number;
}

/** Resumes what has returned `at` until it does not pause any more. */
export function resumed(at: number, paused: Pausable): number {
  let result = at;
  while (result === PAUSED) result = paused.resume?.() ?? -1;
  return result;
}

/** Returns the starts of the lines that repeated calls of `next` report. */
export function linesFound(next: (from: number) => number, bytes: Buffer): number[] {
  const found: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    const at = next(from);
    if (at === PAUSED) throw new Error('paused');
    if (at === -1) break;
    found.push(at === 0 ? 0 : bytes.lastIndexOf('\n', at - 1) + 1);
    const lf = bytes.indexOf('\n', at);
    from = lf === -1 ? bytes.length : lf + 1;
  }
  return found;
}
