const SURROGATE = /[\ud800-\udfff]/;

/** Orders names by Unicode code point. JavaScript's own `<` compares UTF-16 units, which puts U+1F600 before U+FF01. */
export function byCodePoint(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
