import { isUtf8 } from 'node:buffer';
import type { Name } from '../fence/index.ts';

/** Where bytes that are not UTF-8 are put: lone surrogates, which no decoded text contains. */
const ESCAPED = 0xdc00;
const LAST_ASCII = 0x7f;

/**
 * Writes a file name as text that `textToName` turns into the same bytes. In a name that is not UTF-8, each byte past
 * ASCII becomes a lone surrogate, which JSON can hold.
 */
export function nameToText(name: Name): string {
  if (typeof name === 'string') return name;
  if (isUtf8(name)) return name.toString();
  return Array.from(name, (byte) => String.fromCharCode(byte > LAST_ASCII ? ESCAPED | byte : byte)).join('');
}

/** Reads what `nameToText` has written. */
export function textToName(text: string): Name {
  if ((text as string & { isWellFormed(): boolean }).isWellFormed()) return text;
  return Buffer.from(Array.from(text, (char) => char.charCodeAt(0) & 0xff));
}

/** Returns the path of an entry of a folder, whose own path is empty if it is the root's top. */
export function pathInside(folder: string, name: Name): string {
  return folder === '' ? nameToText(name) : `${folder}/${nameToText(name)}`;
}
