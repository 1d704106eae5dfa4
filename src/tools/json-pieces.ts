/**
 * JSON as it is sent: at once, or, where there is much of it, piece by piece. To put the pieces of a megabyte together takes
 * longer than to make them.
 */
export type Json = string | readonly string[];

/** So many items of a list make a piece: some kilobytes, which are soon made, copied and forgotten. */
const ITEMS = 128;

/** What `JSON.stringify` makes of a result, with its long lists in pieces. */
export function jsonOf(result: Readonly<Record<string, unknown>>): Json {
  let long = false;
  for (const key in result) long ||= isLong(result[key]);
  if (!long) return JSON.stringify(result);
  const pieces: string[] = [];
  let before = '{';
  for (const key in result) {
    const value = result[key];
    if (value === undefined) continue;
    before += `${JSON.stringify(key)}:`;
    if (isLong(value)) {
      pieces.push(`${before}[`, ...itemPieces(value));
      before = '],';
    } else {
      before += `${JSON.stringify(value)},`;
    }
  }
  pieces.push(`${before.slice(0, -1)}}`);
  return pieces;
}

/** A text, as it stands between the quotes of a JSON string. */
export function inQuotes(text: Json): Json {
  return typeof text === 'string' ? quoted(text) : text.map(quoted);
}

/** Texts one behind the other, in pieces if one of them is. */
export function joined(...texts: readonly Json[]): Json {
  let all = '';
  for (const text of texts) {
    if (typeof text !== 'string') return texts.flat();
    all += text;
  }
  return all;
}

export function bytesOf(text: Json): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.concat(text.map((piece) => Buffer.from(piece)));
}

export function jsonLength(text: Json): number {
  return typeof text === 'string' ? text.length : text.reduce((total, piece) => total + piece.length, 0);
}

export function jsonBytes(text: Json): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return text.reduce((total, piece) => total + Buffer.byteLength(piece), 0);
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS;
}

function itemPieces(items: readonly unknown[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < items.length; at += ITEMS) {
    const json = JSON.stringify(items.slice(at, at + ITEMS)).slice(1, -1);
    pieces.push(at === 0 ? json : `,${json}`);
  }
  return pieces;
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
