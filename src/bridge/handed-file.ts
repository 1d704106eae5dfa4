import { createHash } from 'node:crypto';
import { base64ToBytes } from '../ops/content.ts';
import { BridgeError } from './bridge-error.ts';
import type { Mtime } from './mtime.ts';
import { assertEncoding, encodeText } from './text-encoding.ts';

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
}

export interface FileBytes {
  /** The file's own bytes, so that hashes and sizes are those of the file. */
  readonly bytes: Buffer;
  /** What text they are; undefined for bytes of which nothing was said. */
  readonly encoding: string | undefined;
}

/**
 * The bytes of a handed file. Text for which the encoding has no bytes is `undecodable` if that encoding was stated; where
 * it was merely asked for, the `fallbacks` are tried first. Raises `unsupported_encoding` and `invalid_encoding` too.
 */
export function toBytes(file: HandedFile, asked = 'utf-8', fallbacks: readonly string[] = []): FileBytes {
  const { content, path } = file;
  const encoding = file.encoding === 'base64' ? undefined : file.encoding;
  if (encoding !== undefined) assertEncoding(encoding);
  if (file.binary === true || file.encoding === 'base64') return { bytes: fromBase64(content, path), encoding };
  const tried = encoding === undefined ? [asked, ...fallbacks] : [encoding];
  for (const name of tried) {
    const bytes = encodeText(content, name);
    if (bytes !== undefined) return { bytes, encoding: name };
  }
  throw new BridgeError('undecodable', { tried }, { path });
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function fromBase64(content: string, path: string): Buffer {
  try {
    return base64ToBytes(content, 'content');
  } catch (cause) {
    throw new BridgeError('invalid_encoding', { argument: 'content' }, { path, cause });
  }
}
