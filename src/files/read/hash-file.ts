import { createHash } from 'node:crypto';
import { type CallerPath, type Root, withLocation } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { fileChunks } from './file-chunks.ts';

export const HASH_ALGORITHMS = ['md5', 'sha1', 'sha256'] as const;
export type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

/** Hashes a file through two buffers of 256 KB, whatever its size. `size` is how many bytes were hashed. */
export async function hashFile(
  root: Root,
  path: CallerPath,
  algorithm: HashAlgorithm = 'sha256',
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ hash: string; size: number }> {
  return withLocation(root, path, async () => {
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

/** The same of bytes that are in memory already. */
export function hashBytes(bytes: Buffer, algorithm: HashAlgorithm): { hash: string; size: number } {
  return { hash: createHash(algorithm).update(bytes).digest('hex'), size: bytes.length };
}
