import { escapeJson, escapeJsonChunks } from './json-escaper.ts';
import { ITEMS_PER_CHUNK, JsonList } from './json-list.ts';

/**
 * JSON text ready to be sent: a string, or for long results a list of UTF-8 buffers. Concatenating megabytes of strings
 * takes longer than producing them, and the garbage collector copies strings, but not buffers.
 */
export type JsonChunks = string | readonly Buffer[];

/** A value as JSON, and that JSON escaped for use between the quotes of a JSON string. */
export interface EscapedJson {
  readonly json: JsonChunks;
  readonly escaped: JsonChunks;
}

/**
 * Serializes a tool's result as `JSON.stringify` does, once as it is and once escaped, since a result is sent both as
 * structured content and as text. Long lists come in chunks, a short result as strings.
 */
export function jsonAndEscaped(result: Readonly<Record<string, unknown>>): EscapedJson {
  let isShort = true;
  for (const key in result) isShort &&= !(isLongList(result[key]) || result[key] instanceof JsonList);
  const chunks = isShort ? [JSON.stringify(result)] : [...resultChunks(result)];
  if (chunks.every(isString)) {
    const json = chunks.join('');
    return { json, escaped: escapeJson(json) };
  }
  const json: Buffer[] = [];
  const escaped: Buffer[] = [];
  for (const chunk of chunks) {
    const both = isString(chunk) ? encodeBoth(chunk) : chunk;
    json.push(...both.json);
    escaped.push(...both.escaped);
  }
  return { json, escaped };
}

/** Concatenates JSON. The result is a string if all parts are strings, otherwise buffers. */
export function concatJson(...parts: readonly JsonChunks[]): JsonChunks {
  let all = '';
  for (const part of parts) {
    if (typeof part !== 'string') return parts.flatMap((each) => (typeof each === 'string' ? Buffer.from(each) : each));
    all += part;
  }
  return all;
}

/** Returns JSON as one UTF-8 buffer. */
export function jsonBytes(json: JsonChunks): Buffer {
  return typeof json === 'string' ? Buffer.from(json) : Buffer.concat(json);
}

/** Returns the length of JSON in bytes of UTF-8. */
export function jsonByteLength(json: JsonChunks): number {
  if (typeof json === 'string') return Buffer.byteLength(json);
  return json.reduce((total, chunk) => total + chunk.length, 0);
}

function isLongList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS_PER_CHUNK;
}

type EscapedChunks = { readonly [K in keyof EscapedJson]: readonly Buffer[] };

/** Yields the JSON of a result: long lists as encoded chunks, everything between them as strings. */
function* resultChunks(result: Readonly<Record<string, unknown>>): Generator<string | EscapedChunks, void, undefined> {
  let pending = '{';
  for (const key in result) {
    const value = result[key];
    if (value === undefined) continue;
    pending += `${JSON.stringify(key)}:`;
    if (value instanceof JsonList) {
      yield `${pending}[`;
      if (value.json.length > 0) yield value;
      pending = `${value.pendingJson}],`;
    } else if (isLongList(value)) {
      yield `${pending}[`;
      for (let at = 0; at < value.length; at += ITEMS_PER_CHUNK) {
        const items = JSON.stringify(value.slice(at, at + ITEMS_PER_CHUNK)).slice(1, -1);
        yield encodeBoth(at === 0 ? items : `,${items}`);
      }
      pending = '],';
    } else {
      pending += `${JSON.stringify(value)},`;
    }
  }
  yield `${pending.slice(0, -1)}}`;
}

function encodeBoth(text: string): EscapedChunks {
  const json = Buffer.from(text);
  return { json: [json], escaped: escapeJsonChunks(json) };
}

function isString(chunk: string | EscapedChunks): chunk is string {
  return typeof chunk === 'string';
}
