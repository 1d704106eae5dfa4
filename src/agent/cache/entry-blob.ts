import type { CachedFile, CacheEntry } from './file-cache.ts';

/** What is before the content of a file: its metadata as JSON, and the length of that. */
const LENGTH_BYTES = 4;

type Header =
  | { readonly file: Omit<CachedFile, 'content'>; readonly isText: boolean }
  | Extract<CacheEntry, { listing: unknown }>;

/** Returns a file or listing of a cache as bytes, for another process. */
export function toBlob(entry: CacheEntry): Buffer {
  if ('listing' in entry) return withHeader(entry, Buffer.alloc(0));
  const { content, mtime, ...file } = entry.file;
  const known = mtime === undefined ? {} : { mtime: mtime instanceof Date ? mtime.getTime() : mtime };
  return withHeader({ file: { ...file, ...known }, isText: typeof content === 'string' }, Buffer.from(content));
}

/** Returns the file or listing that `toBlob` made bytes of. */
export function fromBlob(blob: Buffer): CacheEntry {
  const end = LENGTH_BYTES + blob.readUInt32LE(0);
  const header = JSON.parse(blob.toString('utf8', LENGTH_BYTES, end)) as Header;
  if ('listing' in header) return header;
  const content = blob.subarray(end);
  return { file: { ...header.file, content: header.isText ? content.toString() : content } };
}

function withHeader(header: Header, content: Buffer): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, content]);
}
