import { BridgeError } from '../../agent/bridge-error.ts';
import { decodeBytes, encodeText } from '../../agent/text-encoding.ts';
import { encodeContent } from '../../files/encoding.ts';
import type { FilePart } from '../../files/read/read-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { showValue } from '../../tools/show-value.ts';

/** The encodings that a caller can name. In all but UTF-16, the byte 0x0A is always a line feed. */
const ENCODINGS: ReadonlySet<string> = new Set([
  ...['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'iso-8859-1', 'iso-8859-2', 'iso-8859-5', 'iso-8859-7', 'iso-8859-15'],
  ...['windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
  ...['windows-1257', 'windows-1258', 'koi8-r', 'koi8-u', 'macroman', 'ibm437', 'ibm850', 'ibm866'],
  ...['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb2312', 'gb18030', 'big5'],
]);

/** The most bytes that one character takes in any of them. */
const MAX_CHARACTER_BYTES = 4;

const BYTE_ORDER_MARK = '\ufeff';
/** Its length in UTF-16. */
const MARK_BYTES = 2;

/** Raises `invalid_argument` unless the encoding is one that `contentOf` can decode, or undefined. */
export function assertEncoding(encoding: string | undefined): void {
  if (encoding === undefined || ENCODINGS.has(encoding.toLowerCase())) return;
  const problem = `unknown encoding: ${showValue(encoding)}; known are utf-8, latin1, windows-1252, utf-16le, utf-16be, shift_jis, gbk and others`;
  throw new ToolError('invalid_argument', { problem, argument: 'encoding' });
}

/** Returns the byte order of an encoding in which a line feed is two bytes; undefined for all others. */
export function utf16Order(encoding: string | undefined): 'le' | 'be' | undefined {
  if (encoding === undefined) return undefined;
  const order = /^utf-16(le|be)$/i.exec(encoding)?.[1]?.toLowerCase();
  return order as 'le' | 'be' | undefined;
}

/** The content of a part of a file as it is written in JSON. */
export interface PartContent {
  readonly content: string;
  /** The encoding that the caller named, else `utf-8` or `base64`. */
  readonly encoding: string;
  /** The bytes of the file that `content` stands for. */
  readonly bytes: Buffer;
  /** The offset of the content in the file, in bytes. */
  readonly start: number;
}

interface ContentOptions {
  readonly path: string;
  /** The encoding that the caller named. */
  readonly encoding: string | undefined;
  /** Whether the part was cut for its size, so that it may end inside a character. A range of bytes is exact. */
  readonly isCut: boolean;
}

/** A part of a file. Client-side files have no version. */
export type ReadPart = Omit<FilePart, 'mtimeMs' | 'version'> & Partial<Pick<FilePart, 'version'>>;

/**
 * Decodes a part of a file: with the encoding that the caller named, else as UTF-8, else as base64. A byte order mark
 * of UTF-16 is left out. Raises `undecodable` for bytes that are not valid in the named encoding.
 */
export function contentOf(part: ReadPart, { path, encoding, isCut }: ContentOptions): PartContent {
  if (encoding === undefined) {
    const { bytes, start } = part;
    const { content, encoding } = encodeContent(bytes);
    return { content, encoding, bytes, start };
  }
  for (let dropped = 0; dropped <= (isCut ? MAX_CHARACTER_BYTES - 1 : 0); dropped += 1) {
    const bytes = part.bytes.subarray(0, part.bytes.length - dropped);
    const text = decodeBytes(bytes, encoding);
    if (text === undefined) continue;
    const isMarked = part.start === 0 && utf16Order(encoding) !== undefined && text.startsWith(BYTE_ORDER_MARK);
    return isMarked
      ? { content: text.slice(1), encoding, bytes: bytes.subarray(MARK_BYTES), start: MARK_BYTES }
      : { content: text, encoding, bytes, start: part.start };
  }
  throw new BridgeError('undecodable', { tried: [encoding] }, { path });
}

/** Returns how many bytes of the file the first characters of a content stand for. */
export function byteLengthOf(text: string, encoding: string): number {
  if (encoding === 'utf-8' || encoding === 'base64') return Buffer.byteLength(text, encoding);
  // What has no exact way back is an estimate: a variant of the character that takes as many bytes.
  return encodeText(text, encoding)?.length ?? text.length;
}
