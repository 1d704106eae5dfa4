import { ITEMS, JsonList } from './json-list.ts';
import { inQuotes, piecesInQuotes } from './json-string.ts';

/**
 * JSON as it is sent: as a text, or, where there is much of it, as the bytes of one piece after another. To put a megabyte
 * of text together takes longer than to make it, and texts that are kept are copied by the garbage collector.
 */
export type Json = string | readonly Buffer[];

/** A value as JSON, and that JSON as it stands between the quotes of a JSON string. */
export interface TwiceJson {
  readonly json: Json;
  readonly quoted: Json;
}

/** What `JSON.stringify` makes of a result, and of what it made, with long lists in pieces. */
export function jsonTwice(result: Readonly<Record<string, unknown>>): TwiceJson {
  let plain = true;
  for (const key in result) plain &&= !(isLong(result[key]) || result[key] instanceof JsonList);
  const pieces = plain ? [JSON.stringify(result)] : [...jsonPieces(result)];
  if (pieces.every(isText)) {
    const json = pieces.join('');
    return { json, quoted: inQuotes(json) };
  }
  const json: Buffer[] = [];
  const quoted: Buffer[] = [];
  for (const piece of pieces) {
    const twice = isText(piece) ? twiceInBytes(piece) : piece;
    json.push(...twice.json);
    quoted.push(...twice.quoted);
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

type Pieces = { readonly [K in keyof TwiceJson]: readonly Buffer[] };

/** In texts if it is short as a whole. */
function* jsonPieces(result: Readonly<Record<string, unknown>>): Generator<string | Pieces, void, undefined> {
  let before = '{';
  for (const key in result) {
    const value = result[key];
    if (value === undefined) continue;
    before += `${JSON.stringify(key)}:`;
    if (value instanceof JsonList) {
      yield `${before}[`;
      if (value.json.length > 0) yield value;
      before = `${value.rest}],`;
    } else if (isLong(value)) {
      yield `${before}[`;
      for (let at = 0; at < value.length; at += ITEMS) {
        const items = JSON.stringify(value.slice(at, at + ITEMS)).slice(1, -1);
        yield twiceInBytes(at === 0 ? items : `,${items}`);
      }
      before = '],';
    } else {
      before += `${JSON.stringify(value)},`;
    }
  }
  yield `${before.slice(0, -1)}}`;
}

function twiceInBytes(text: string): Pieces {
  const json = Buffer.from(text);
  return { json: [json], quoted: piecesInQuotes(json) };
}

function isText(piece: string | Pieces): piece is string {
  return typeof piece === 'string';
}
