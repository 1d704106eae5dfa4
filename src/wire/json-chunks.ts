import { ITEMS, JsonList } from './json-list.ts';
import { escapeJson, escapeJsonChunks } from './json-string.ts';

/**
 * JSON as it is sent: as a text, or, where there is much of it, as the bytes of one piece after another. To put a megabyte
 * of text together takes longer than to make it, and texts that are kept are copied by the garbage collector.
 */
export type JsonChunks = string | readonly Buffer[];

/** A value as JSON, and that JSON as it stands between the quotes of a JSON string. */
export interface EscapedJson {
  readonly json: JsonChunks;
  readonly escaped: JsonChunks;
}

/** What `JSON.stringify` makes of a result, and of what it made, with long lists in pieces. */
export function jsonAndEscaped(result: Readonly<Record<string, unknown>>): EscapedJson {
  let plain = true;
  for (const key in result) plain &&= !(isLong(result[key]) || result[key] instanceof JsonList);
  const chunks = plain ? [JSON.stringify(result)] : [...jsonPieces(result)];
  if (chunks.every(isText)) {
    const json = chunks.join('');
    return { json, escaped: escapeJson(json) };
  }
  const json: Buffer[] = [];
  const escaped: Buffer[] = [];
  for (const chunk of chunks) {
    const twice = isText(chunk) ? twiceInBytes(chunk) : chunk;
    json.push(...twice.json);
    escaped.push(...twice.escaped);
  }
  return { json, escaped };
}

/** Texts one behind the other, in pieces if one of them is. */
export function concatJson(...texts: readonly JsonChunks[]): JsonChunks {
  let all = '';
  for (const text of texts) {
    if (typeof text !== 'string') return texts.flatMap((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    all += text;
  }
  return all;
}

export function jsonBytes(json: JsonChunks): Buffer {
  return typeof json === 'string' ? Buffer.from(json) : Buffer.concat(json);
}

export function jsonByteLength(json: JsonChunks): number {
  if (typeof json === 'string') return Buffer.byteLength(json);
  return json.reduce((total, chunk) => total + chunk.length, 0);
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS;
}

type EscapedChunks = { readonly [K in keyof EscapedJson]: readonly Buffer[] };

/** In texts if it is short as a whole. */
function* jsonPieces(result: Readonly<Record<string, unknown>>): Generator<string | EscapedChunks, void, undefined> {
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

function twiceInBytes(text: string): EscapedChunks {
  const json = Buffer.from(text);
  return { json: [json], escaped: escapeJsonChunks(json) };
}

function isText(chunk: string | EscapedChunks): chunk is string {
  return typeof chunk === 'string';
}
