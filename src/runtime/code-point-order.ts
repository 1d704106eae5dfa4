const SURROGATE = /[\ud800-\udfff]/;

/** Whether a text has characters beyond U+FFFF. Among texts that have none, JavaScript's own `<` is the order of code points. */
export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text);
}

/** Orders names by Unicode code point. JavaScript's own `<` compares UTF-16 units, which puts U+1F600 before U+FF01. */
export function byCodePoint(a: string, b: string): number {
  if (hasSurrogates(a) || hasSurrogates(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
