import { createHash } from 'node:crypto';
import { base64ToBytes } from '../../files/encoding.ts';
import { BridgeError } from '../bridge-error.ts';
import type { Mtime } from '../mtime.ts';
import { assertEncoding, encodeText } from '../text-encoding.ts';

/** A file as it is handed over in JSON. */
export interface HandedFile {
  readonly path: string;
  /** Text of the file, or its bytes in base64. */
  readonly content: string;
  /** `base64` for bytes; else the encoding that the file has on disk, `utf-8` by default. */
  readonly encoding?: string | undefined;
  /** The content is base64, whatever `encoding` says; that is then what text the bytes are. */
  readonly binary?: boolean | undefined;
  readonly mtime?: Mtime | undefined;
  readonly size?: number | undefined;
  /** Of the whole file's bytes, in hex. */
  readonly sha256?: string | undefined;
}

export interface FileBytes {
  /** The file's own bytes, so that hashes and sizes are those of the file. */
  readonly bytes: Buffer;
  /** What text they are; undefined for bytes of which nothing was said. */
  readonly encoding: string | undefined;
}

/**
 * The bytes of a handed file. Text for which the stated encoding has no bytes is `undecodable`; where none is stated, the
 * `expected` are tried in turn. Raises `unsupported_encoding` and `invalid_encoding` too.
 */
export function toBytes(file: HandedFile, expected: readonly string[] = ['utf-8']): FileBytes {
  const { content, path } = file;
  if (typeof content !== 'string') throw invalid('content', 'must be a string');
  const encoding = file.encoding === 'base64' ? undefined : file.encoding;
  if (encoding !== undefined) assertEncoding(encoding);
  if (file.binary === true || file.encoding === 'base64') return { bytes: fromBase64(content, path), encoding };
  const tried = encoding === undefined ? expected : [encoding];
  for (const name of tried) {
    const bytes = encodeText(content, name);
    if (bytes !== undefined) return { bytes, encoding: name };
  }
  throw new BridgeError('undecodable', { tried }, { path });
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Raises `invalid_argument` for what cannot be a hash. */
export function assertHashForm(hash: string, argument: string): void {
  if (!/^[0-9a-f]{64}$/i.test(hash)) throw invalid(argument, 'must be a SHA-256 in hex');
}

/** Raises `invalid_argument` if a hash is not that of what came. */
export function assertHash(actual: string, expected: string, argument: string): void {
  assertHashForm(expected, argument);
  if (actual !== expected.toLowerCase()) throw invalid(argument, `does not match the content, which has ${actual}`);
}

function fromBase64(content: string, path: string): Buffer {
  try {
    return base64ToBytes(content, 'content');
  } catch (cause) {
    throw new BridgeError('invalid_encoding', { argument: 'content' }, { path, cause });
  }
}

function invalid(argument: string, problem: string): BridgeError {
  return new BridgeError('invalid_argument', { problem: `${argument} ${problem}`, argument });
}
