import {
  type Dir,
  type Entry,
  isFenceError,
  isTemporaryName,
  type Name,
  ROOT_PATH,
  type Root,
} from '../../fence/index.ts';
import { HISTORY_FOLDER } from '../../history/index.ts';
import { backgroundPacer } from '../../runtime/background-pacer.ts';
import { removeIfLeftover } from '../remove/remove-folder.ts';

/**
 * Removes the temporary files and folders that killed processes left anywhere in a root, and returns how many. Runs in
 * the background with a small share of this thread's time. Links are not followed; what cannot be entered or removed is
 * skipped, and so is what a history keeps. Raises the reason of an aborted signal, and any failure that is not about a single entry.
 */
export async function sweepLeftovers(root: Root, signal: AbortSignal): Promise<number> {
  const pause = backgroundPacer(signal);
  let swept = 0;

  async function sweep(dir: Dir): Promise<void> {
    const { temporary, folders } = await listCandidates(dir);
    for (const entry of temporary) {
      await pause();
      if (await skipUnreachable(() => removeIfLeftover(dir, entry))) swept += 1;
    }
    for (const folder of folders) {
      await pause();
      await skipUnreachable(async () => {
        using child = dir.openDir(folder);
        await sweep(child);
      });
    }
  }

  /**
   * Lists a folder to its end before anything is removed: some filesystems skip entries if the folder changes
   * meanwhile.
   */
  async function listCandidates(dir: Dir): Promise<SweepCandidates> {
    const candidates: SweepCandidates = { temporary: [], folders: [] };
    for (const batch of dir.listBatches(true)) {
      addTo(candidates, batch);
      await pause();
    }
    return candidates;
  }

  using top = root.openDir(ROOT_PATH);
  await sweep(top);
  return swept;
}

/** The entries of a folder that may be leftovers, and the subfolders that may contain some. */
interface SweepCandidates {
  readonly temporary: Entry[];
  readonly folders: Name[];
}

function addTo({ temporary, folders }: SweepCandidates, entries: readonly Entry[]): void {
  for (const entry of entries) {
    if (isTemporaryName(entry.name)) temporary.push(entry);
    else if (entry.type === 'directory' && entry.name !== HISTORY_FOLDER) folders.push(entry.raw);
  }
}

/**
 * The codes for which an entry is skipped. What this process may not enter or remove, it did not create; what it lacks
 * descriptors for (`exhausted`), the next start removes.
 */
const SKIPPED_CODES = [
  'permission_denied',
  'not_found',
  'not_directory',
  'read_only',
  'link_loop',
  'exhausted',
] as const;

/** Runs `work`; returns undefined if it fails with one of `SKIPPED_CODES`. */
async function skipUnreachable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isFenceError(error, ...SKIPPED_CODES)) throw error;
    return undefined;
  }
}
