import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { BridgeError } from './bridge-error.ts';

/** Known to iconv-lite, but ways to spell bytes rather than text. `base64` is handled where content is taken in. */
const NOT_TEXT = /^(?:base64|hex)$/i;
const UTF8 = /^utf-?8$/i;
/** iconv-lite overlooks all other characters, and names go into prompts. */
const NAME = /^[\w.:-]{1,40}$/;

/** Raises `unsupported_encoding`. */
export function assertEncoding(encoding: string): void {
  const known =
    NAME.test(encoding) && !NOT_TEXT.test(encoding) && (UTF8.test(encoding) || iconv().encodingExists(encoding));
  if (!known) throw new BridgeError('unsupported_encoding', { encoding: String(encoding).slice(0, 40) });
}

/** Text as bytes, or undefined where the encoding has no bytes for some of it. Adds no byte order mark. */
export function encodeText(text: string, encoding: string): Buffer | undefined {
  if (!text.isWellFormed()) return undefined;
  if (UTF8.test(encoding)) return Buffer.from(text, 'utf8');
  const bytes = iconv().encode(text, encoding, { addBOM: false });
  // iconv-lite writes a question mark for what it cannot encode; only what reads back the same was all written.
  return iconv().decode(bytes, encoding, { stripBOM: false }) === text ? bytes : undefined;
}

/** Bytes as text, or undefined where they are not of that encoding. A byte order mark stays. */
export function decodeBytes(bytes: Buffer, encoding: string): string | undefined {
  if (UTF8.test(encoding)) return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  const text = iconv().decode(bytes, encoding, { stripBOM: false });
  if (!text.isWellFormed()) return undefined;
  // U+FFFD stands for what could not be read, unless the file holds that very character.
  const whole = !text.includes('\ufffd') && !/^utf-?(?:16|32)|^ucs/i.test(encoding);
  return whole || encodeText(text, encoding)?.equals(bytes) ? text : undefined;
}

/** The text in the first encoding that fits. Raises `undecodable`. */
export function decodeFirst(bytes: Buffer, encodings: readonly string[], path: string): string {
  for (const encoding of encodings) {
    const text = decodeBytes(bytes, encoding);
    if (text !== undefined) return text;
  }
  throw new BridgeError('undecodable', { tried: encodings }, { path });
}

/**
 * Its tables are read only where something else than UTF-8 is spoken of. By `require`, because Node 20 sometimes hands out a
 * CommonJS module that two dynamic imports load at once before it has run: empty.
 */
function iconv(): typeof import('iconv-lite') {
  return require('iconv-lite');
}

const require = createRequire(import.meta.url);
