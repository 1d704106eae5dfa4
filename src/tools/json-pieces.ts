import { inQuotes, piecesInQuotes } from './in-quotes.ts';

/**
 * JSON as it is sent: as a text, or, where there is much of it, as the bytes of one piece after another. To put a megabyte
 * of text together takes longer than to make it, and texts that are kept are copied by the garbage collector.
 */
export type Json = string | readonly Buffer[];

/** So many items of a list make a piece: some kilobytes, which are soon made, copied and forgotten. */
const ITEMS = 128;

/** A value as JSON, and that JSON as it stands between the quotes of a JSON string. */
export interface TwiceJson {
  readonly json: Json;
  readonly quoted: Json;
}

/** What `JSON.stringify` makes of a result, and of what it made, with long lists in pieces. */
export function jsonTwice(result: Readonly<Record<string, unknown>>): TwiceJson {
  let long = false;
  for (const key in result) long ||= isLong(result[key]);
  if (!long) {
    const json = JSON.stringify(result);
    return { json, quoted: inQuotes(json) };
  }
  const json: Buffer[] = [];
  const quoted: Buffer[] = [];
  for (const piece of jsonPieces(result)) {
    const bytes = Buffer.from(piece);
    json.push(bytes);
    quoted.push(...piecesInQuotes(bytes));
  }
  return { json, quoted };
}

/** Texts one behind the other, in pieces if one of them is. */
export function joined(...texts: readonly Json[]): Json {
  let all = '';
  for (const text of texts) {
    if (typeof text !== 'string') return texts.flatMap((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    all += text;
  }
  return all;
}

export function bytesOf(json: Json): Buffer {
  return typeof json === 'string' ? Buffer.from(json) : Buffer.concat(json);
}

export function byteLength(json: Json): number {
  if (typeof json === 'string') return Buffer.byteLength(json);
  return json.reduce((total, piece) => total + piece.length, 0);
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS;
}

function* jsonPieces(result: Readonly<Record<string, unknown>>): Generator<string, void, undefined> {
  let before = '{';
  for (const key in result) {
    const value = result[key];
    if (value === undefined) continue;
    before += `${JSON.stringify(key)}:`;
    if (isLong(value)) {
      yield `${before}[`;
      for (let at = 0; at < value.length; at += ITEMS) {
        const items = JSON.stringify(value.slice(at, at + ITEMS)).slice(1, -1);
        yield at === 0 ? items : `,${items}`;
      }
      before = '],';
    } else {
      before += `${JSON.stringify(value)},`;
    }
  }
  yield `${before.slice(0, -1)}}`;
}
