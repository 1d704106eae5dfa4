import type { CallerPath, EntryType, Root } from '../../fence/index.ts';

/** The name and kind of an entry, as a directory itself records them. */
export interface NamedEntry {
  readonly name: string;
  readonly type: EntryType;
}

/**
 * Returns up to `maxEntries` children of a folder, in no particular order and without statting them, for completions
 * and hints that may be incomplete. Leaves out names that are not UTF-8. Does not yield. Raises what `Root.openDir`
 * raises.
 */
export function peekFolder(root: Root, path: CallerPath, maxEntries: number): NamedEntry[] {
  using dir = root.openDir(path);
  const found: NamedEntry[] = [];
  for (const batch of dir.listBatches()) {
    for (const { name, raw, type } of batch) {
      if (found.length >= maxEntries) return found;
      if (typeof raw === 'string') found.push({ name, type });
    }
  }
  return found;
}
