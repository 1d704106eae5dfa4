import { createHash } from 'node:crypto';
import type { CallerPath, Root } from '../fence/index.ts';
import { type Control, pacer } from './control.ts';
import { located } from './located.ts';

export const HASH_ALGORITHMS = ['md5', 'sha1', 'sha256'] as const;
export type HashAlgorithm = (typeof HASH_ALGORITHMS)[number];

const BUFFER_BYTES = 32 * 1024;

/** The same of bytes that are in memory already. */
export function hashBytes(bytes: Buffer, algorithm: HashAlgorithm): { hash: string; size: number } {
  return { hash: createHash(algorithm).update(bytes).digest('hex'), size: bytes.length };
}

/** Hashes a file through one buffer of 32 KB, whatever its size. `size` is how many bytes were hashed. */
export async function hashFile(
  root: Root,
  path: CallerPath,
  algorithm: HashAlgorithm,
  control: Control,
): Promise<{ hash: string; size: number }> {
  return located(root, path, async () => {
    using file = root.openFile(path);
    const pause = pacer(control);
    const hash = createHash(algorithm);
    const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    let size = 0;
    for (let read = file.read(buffer); read > 0; read = file.read(buffer)) {
      hash.update(buffer.subarray(0, read));
      size += read;
      const paused = pause();
      if (paused !== undefined) {
        control.progress(size, file.stats.size);
        await paused;
      }
    }
    return { hash: hash.digest('hex'), size };
  });
}
