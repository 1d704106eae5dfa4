const SURROGATE = /[\ud800-\udfff]/;

/**
 * Reports whether a string has UTF-16 surrogates, that is code points beyond U+FFFF. Among strings without any, `<`
 * already orders by code point.
 */
export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text);
}

/**
 * Compares strings by Unicode code point. JavaScript's `<` compares UTF-16 code units, which puts U+1F600 before
 * U+FF01. Unpaired surrogates compare as U+FFFD.
 */
export function byCodePoint(a: string, b: string): number {
  if (hasSurrogates(a) || hasSurrogates(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns `at`, or the start of the UTF-8 character that an offset of `at` would split. Goes back at most three bytes,
 * also in bytes that are not UTF-8.
 */
export function characterStart(bytes: Buffer, at: number): number {
  const least = Math.max(0, at - 3);
  let start = at;
  while (start > least && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return start;
}
