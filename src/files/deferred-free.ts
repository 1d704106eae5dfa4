import type { Dir, Name } from '../fence/index.ts';

/** From here on it is felt how long the system takes to free a file. */
const LARGE = 16 * 1024 * 1024;

interface RemovedEntry {
  readonly dir: Dir;
  readonly name: Name;
  readonly stats: { readonly size: number } | undefined;
}

/** To be in use while the entry at a place is removed or replaced: if it is a large file, others need not wait until it is freed. */
export function freeLater({ dir, name, stats }: RemovedEntry): Disposable | undefined {
  return stats !== undefined && stats.size >= LARGE ? dir.holdOpen(name) : undefined;
}
