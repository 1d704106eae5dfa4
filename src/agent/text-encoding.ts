import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { BridgeError } from './bridge-error.ts';

/** iconv-lite accepts these names, but they are not text encodings. `toBytes` handles `base64`. */
const NOT_TEXT = /^(?:base64|hex)$/i;
const UTF8 = /^utf-?8$/i;
/** iconv-lite ignores all other characters in a name, and names are shown in prompts. */
const NAME = /^[\w.:-]{1,40}$/;

/** Raises `unsupported_encoding` unless `encoding` names a known text encoding. */
export function assertEncoding(encoding: string): void {
  const known =
    NAME.test(encoding) && !NOT_TEXT.test(encoding) && (UTF8.test(encoding) || iconv().encodingExists(encoding));
  if (!known) throw new BridgeError('unsupported_encoding', { encoding: String(encoding).slice(0, 40) });
}

/** Encodes text. Returns undefined if the encoding cannot represent all of it. Adds no byte order mark. */
export function encodeText(text: string, encoding: string): Buffer | undefined {
  if (!text.isWellFormed()) return undefined;
  if (UTF8.test(encoding)) return Buffer.from(text, 'utf8');
  const bytes = iconv().encode(text, encoding, { addBOM: false });
  // iconv-lite replaces characters that it cannot encode with "?", so only a lossless round trip proves that there were
  // none.
  return iconv().decode(bytes, encoding, { stripBOM: false }) === text ? bytes : undefined;
}

/** Decodes bytes. Returns undefined if they are not valid in that encoding. Keeps a byte order mark. */
export function decodeBytes(bytes: Buffer, encoding: string): string | undefined {
  if (UTF8.test(encoding)) return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  const text = iconv().decode(bytes, encoding, { stripBOM: false });
  if (!text.isWellFormed()) return undefined;
  // U+FFFD marks invalid bytes, unless the file itself contains that character. A round trip tells the two apart.
  const whole = !text.includes('\ufffd') && !/^utf-?(?:16|32)|^ucs/i.test(encoding);
  return whole || encodeText(text, encoding)?.equals(bytes) ? text : undefined;
}

/** Decodes bytes with the first encoding in which they are valid. Raises `undecodable`. */
export function decodeFirst(bytes: Buffer, encodings: readonly string[], path: string): string {
  for (const encoding of encodings) {
    const text = decodeBytes(bytes, encoding);
    if (text !== undefined) return text;
  }
  throw new BridgeError('undecodable', { tried: encodings }, { path });
}

/**
 * Loads iconv-lite on first use, because its tables are only needed for encodings other than UTF-8. Uses `require`: in
 * Node 20, two concurrent dynamic imports of a CommonJS module can yield its exports before it has run.
 */
function iconv(): typeof import('iconv-lite') {
  return require('iconv-lite');
}

const require = createRequire(import.meta.url);
