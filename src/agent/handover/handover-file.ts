import { createHash } from 'node:crypto';
import { base64ToBytes } from '../../files/encoding.ts';
import { BridgeError } from '../bridge-error.ts';
import type { Mtime } from '../mtime.ts';
import { assertEncoding, encodeText } from '../text-encoding.ts';
import { invalid } from './invalid-argument.ts';

/** A file as a client sends it in JSON. */
export interface HandoverFile {
  readonly path: string;
  /** The file's text, or its bytes in base64. */
  readonly content: string;
  /** `base64` if `content` is base64; else the encoding of the file on disk, `utf-8` by default. */
  readonly encoding?: string | undefined;
  /** Marks `content` as base64. `encoding` then names the text encoding of the decoded bytes, if they are text. */
  readonly binary?: boolean | undefined;
  readonly mtime?: Mtime | undefined;
  readonly size?: number | undefined;
  /** SHA-256 of the whole file's bytes, in hex. */
  readonly sha256?: string | undefined;
}

/** The bytes of a file and how to read them as text. */
export interface FileBytes {
  /** The bytes as on the client's disk, in the file's own encoding. Hashes and sizes refer to them. */
  readonly bytes: Buffer;
  /** The text encoding of the bytes; undefined for base64 without a stated encoding. */
  readonly encoding: string | undefined;
}

/**
 * Decodes `content` to the bytes of the file. Text without a stated encoding is encoded with the first of `expected`
 * that can represent it. Does not verify `sha256` or `size`. Raises `undecodable` for text that no encoding can
 * represent, `unsupported_encoding`, `invalid_encoding` for malformed base64, and `invalid_argument` for content that
 * is not a string. Errors call the content by the name of its `argument`.
 */
export function toBytes(file: HandoverFile, expected: readonly string[] = ['utf-8'], argument = 'content'): FileBytes {
  const { content, path } = file;
  if (typeof content !== 'string') throw invalid(argument, 'must be a string');
  const encoding = file.encoding === 'base64' ? undefined : file.encoding;
  if (encoding !== undefined) assertEncoding(encoding);
  if (file.binary === true || file.encoding === 'base64') {
    return { bytes: fromBase64(content, path, argument), encoding };
  }
  const tried = encoding === undefined ? expected : [encoding];
  for (const name of tried) {
    const bytes = encodeText(content, name);
    if (bytes !== undefined) return { bytes, encoding: name };
  }
  throw new BridgeError('undecodable', { tried }, { path });
}

/** Returns the SHA-256 of some bytes, in lowercase hex. */
export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Raises `invalid_argument` unless `hash` is 64 hex digits. */
export function assertHashForm(hash: string, argument: string): void {
  if (!/^[0-9a-f]{64}$/i.test(hash)) throw invalid(argument, 'must be a SHA-256 in hex');
}

/** Raises `invalid_argument` unless `expected` is a well-formed SHA-256 equal to `actual`, ignoring case. */
export function assertHash(actual: string, expected: string, argument: string): void {
  assertHashForm(expected, argument);
  if (actual !== expected.toLowerCase()) throw invalid(argument, `does not match the content, which has ${actual}`);
}

function fromBase64(content: string, path: string, argument: string): Buffer {
  try {
    return base64ToBytes(content, argument);
  } catch (cause) {
    throw new BridgeError('invalid_encoding', { argument }, { path, cause });
  }
}
