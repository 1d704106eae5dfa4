/**
 * A text reduced to what a reader would call the same: without white space, in lower case, with one kind of quotes and
 * dashes.
 */
export interface LooseText {
  readonly loose: string;
  /** For each character of `loose`, its position in the text. */
  readonly at: Int32Array;
  /** The position in `loose` at which each line of the text begins, and the length of `loose` at the end. */
  readonly lines: readonly number[];
}

const QUOTES = '\'"`´‘’‚“”„«»′″';
const DASHES = '-‐‑‒–—−';
const SPACE = /[\s\u200b-\u200d\u2060\ufeff]/;

/** Reports whether a character is white space or invisible. */
export function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACE.test(character);
}

/** Reports whether two characters are quotes, or two are dashes. */
export function isSameMark(one: string, other: string): 'quotes' | 'dashes' | undefined {
  if (QUOTES.includes(one) && QUOTES.includes(other)) return 'quotes';
  return DASHES.includes(one) && DASHES.includes(other) ? 'dashes' : undefined;
}

/** Reduces a text, in time linear in its length. */
export function loosen(text: string): LooseText {
  const codes = new Uint16Array(text.length);
  const at = new Int32Array(text.length);
  const lines = [0];
  const known = new Map<number, number>();
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 10) lines.push(length);
    let loose = known.get(code);
    if (loose === undefined) {
      loose = looseCode(text[index] ?? '');
      known.set(code, loose);
    }
    if (loose === 0) continue;
    codes[length] = loose;
    at[length++] = index;
  }
  lines.push(length);
  return { loose: Buffer.from(codes.buffer, 0, length * 2).toString('utf16le'), at: at.subarray(0, length), lines };
}

/** Returns the code that stands for a character, 0 for white space. */
function looseCode(character: string): number {
  if (isSpace(character) || character === '\0') return 0;
  if (QUOTES.includes(character)) return 34;
  if (DASHES.includes(character)) return 45;
  const lower = character.toLowerCase();
  return (lower.length === 1 ? lower : character).charCodeAt(0);
}
