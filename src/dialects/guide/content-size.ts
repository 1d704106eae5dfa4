import { BridgeError } from '../../agent/bridge-error.ts';

/** The limit for the content of one file in one call, well below the message size limit of the transports. */
const MAX_CONTENT_BYTES = 8 * 1024 * 1024;

/** The limit for the files of one call: storing so many takes 50 ms. */
export const MAX_FILES = 2_000;

/** The content limit as shown in tool descriptions. */
export const MAX_CONTENT = '8 MiB';

/** Raises `too_large` for content that has to be sent in chunks. */
export function assertContentSize({ path, content }: { readonly path: string; readonly content: string }): void {
  const size = Buffer.byteLength(content);
  if (size > MAX_CONTENT_BYTES) throw new BridgeError('too_large', { size, limit: MAX_CONTENT_BYTES }, { path });
}
