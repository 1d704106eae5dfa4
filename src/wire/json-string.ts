import { jsonEscaper, MAX_BYTES, MAX_LENGTH } from './json-escaper.ts';

/** Shorter texts are escaped sooner by `JSON.stringify`. */
const SHORT = 160;

/** A text, as it stands between the quotes of a JSON string. */
export function escapeJson(text: string): string {
  const escaper = text.length < SHORT ? undefined : jsonEscaper();
  if (escaper === undefined) return stringified(text);
  let json = '';
  for (let from = 0; from < text.length; from += MAX_LENGTH) {
    const part = text.slice(from, from + MAX_LENGTH);
    // To make a text of bytes beyond ASCII costs more than is gained.
    if (!escaper.putText(part)) return stringified(text);
    json += escaper.plain().toString('latin1');
  }
  return json;
}

/** The same for a text in UTF-8, in pieces. */
export function escapeJsonChunks(utf8: Buffer): Buffer[] {
  const escaper = jsonEscaper();
  if (escaper === undefined) return [Buffer.from(stringified(utf8.toString()))];
  const chunks: Buffer[] = [];
  for (let from = 0; from < utf8.length; from += MAX_BYTES) {
    escaper.put(utf8.subarray(from, from + MAX_BYTES));
    chunks.push(Buffer.from(escaper.plain()));
  }
  return chunks;
}

function stringified(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
