import { BridgeError } from '../../agent/bridge-error.ts';

/** What one file may bring along in one call, well below what the transports carry in one message. */
const MAX_CONTENT_BYTES = 8 * 1024 * 1024;

/** The same for people. */
export const MAX_CONTENT = '8 MiB';

/** Raises `too_large` for content that has to come in chunks. */
export function assertContentSize({ path, content }: { readonly path: string; readonly content: string }): void {
  const size = Buffer.byteLength(content);
  if (size > MAX_CONTENT_BYTES) throw new BridgeError('too_large', { size, limit: MAX_CONTENT_BYTES }, { path });
}
