import type { Dir, Name } from '../fence/index.ts';

/**
 * The file size from which unlink(2) takes noticeable time, because the filesystem frees the blocks of the last link.
 */
const LARGE_BYTES = 16 * 1024 * 1024;

interface RemovedEntry {
  readonly dir: Dir;
  readonly name: Name;
  readonly stats: { readonly size: number } | undefined;
}

/**
 * Holds a large file open while its entry is unlinked or replaced, so that its blocks are freed by the close(2) on
 * another thread and not by the unlink on this one. Dispose of the result after the removal. Returns undefined for a
 * small file and for a missing entry.
 */
export function deferFree({ dir, name, stats }: RemovedEntry): Disposable | undefined {
  return stats !== undefined && stats.size >= LARGE_BYTES ? dir.holdOpen(name) : undefined;
}
