import { createHash } from 'node:crypto';
import { type CallerPath, type Root, withLocation } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { fileChunks } from './file-chunks.ts';

/** The supported hash algorithms, by their names in `node:crypto`. */
export const HASH_ALGORITHMS = ['md5', 'sha1', 'sha256'] as const;
/** A hash algorithm of `hashFile`. */
export type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

/**
 * Hashes a file's content in constant memory; `hash` is hexadecimal and `size` the number of bytes hashed. A file that
 * changes meanwhile yields the hash of what was read. Raises what `Root.openFile` raises, and the reason of an aborted
 * signal.
 */
export async function hashFile(
  root: Root,
  path: CallerPath,
  algorithm: HashAlgorithm = 'sha256',
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ hash: string; size: number }> {
  return withLocation(root, path, async () => {
    await awaitLatest(root, path, context);
    using file = root.openFile(path);
    const hash = createHash(algorithm);
    let size = 0;
    for await (const chunk of fileChunks(file, { root, context })) {
      hash.update(chunk);
      size += chunk.length;
      context.progress?.(size, file.size);
    }
    return { hash: hash.digest('hex'), size };
  });
}

/** Hashes bytes in memory, with a result like that of `hashFile`. */
export function hashBytes(bytes: Buffer, algorithm: HashAlgorithm): { hash: string; size: number } {
  return { hash: createHash(algorithm).update(bytes).digest('hex'), size: bytes.length };
}
