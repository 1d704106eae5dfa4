import { createHash } from 'node:crypto';
import { type Dir, isFenceError } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { versionOf } from '../version.ts';

/** How much there is in a folder. */
export interface TreeSize {
  /** Everything that is not a folder, links included. */
  readonly files: number;
  readonly bytes: number;
  /** False if there is more than was counted. */
  readonly isComplete: boolean;
  /** Identifies what was counted: two counts with one version mean that nothing of it has changed between them. */
  readonly version: string;
}

/**
 * Counts the files in an open folder and the folders below it, and their bytes, up to a number of entries. Links are
 * not followed; temporary files and denied entries do not count. Raises what listing raises, and the reason of an
 * aborted signal.
 */
export async function measureTree(top: Dir, maxEntries: number, context: OperationContext): Promise<TreeSize> {
  const pause = yieldPoint(context);
  const hash = createHash('sha256');
  let entries = 0;
  let files = 0;
  let bytes = 0;

  async function measure(dir: Dir): Promise<void> {
    for (const { raw, type } of dir.list().sort(({ name: a }, { name: b }) => (a < b ? -1 : 1))) {
      if (entries > maxEntries) return;
      const wait = pause();
      if (wait !== undefined) await wait;
      const stats = dir.lstat(raw);
      // Removed meanwhile.
      if (stats === undefined) continue;
      entries += 1;
      if (entries > maxEntries) return;
      hash.update(versionOf(stats));
      if (type === 'directory') {
        await measureInner(dir, raw);
      } else {
        files += 1;
        bytes += stats.size;
      }
    }
  }

  async function measureInner(parent: Dir, name: Parameters<Dir['openDir']>[0]): Promise<void> {
    try {
      using dir = parent.openDir(name);
      await measure(dir);
    } catch (error) {
      // Removed or replaced meanwhile.
      if (!isFenceError(error, 'not_found', 'not_directory')) throw error;
    }
  }

  await measure(top);
  return { files, bytes, isComplete: entries <= maxEntries, version: hash.digest('hex') };
}
