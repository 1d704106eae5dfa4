import {
  type Dir,
  type Entry,
  isFenceError,
  isTemporaryName,
  type Name,
  ROOT_PATH,
  type Root,
} from '../../fence/index.ts';
import { backgroundPacer } from '../../runtime/background-pacer.ts';
import { removeIfLeftover } from '../remove/remove-folder.ts';

/** Removes temporary files and folders that killed processes left anywhere in a root, at leisure. Returns how many. */
export async function sweepLeftovers(root: Root, signal: AbortSignal): Promise<number> {
  const pause = backgroundPacer(signal);
  let swept = 0;

  async function sweep(dir: Dir): Promise<void> {
    const { temporary, folders } = await sift(dir);
    for (const entry of temporary) {
      await pause();
      if (await ignoringUnreachable(() => removeIfLeftover(dir, entry))) swept += 1;
    }
    for (const folder of folders) {
      await pause();
      await ignoringUnreachable(async () => {
        using child = dir.openDir(folder);
        await sweep(child);
      });
    }
  }

  /** All of it before anything is removed: some filesystems lose their place then. */
  async function sift(dir: Dir): Promise<SweepCandidates> {
    const sifted: SweepCandidates = { temporary: [], folders: [] };
    for (const part of dir.listBatches(true)) {
      addTo(sifted, part);
      await pause();
    }
    return sifted;
  }

  using top = root.openDir(ROOT_PATH);
  await sweep(top);
  return swept;
}

/** Where leftovers may be. */
interface SweepCandidates {
  readonly temporary: Entry[];
  readonly folders: Name[];
}

function addTo({ temporary, folders }: SweepCandidates, entries: readonly Entry[]): void {
  for (const entry of entries) {
    if (isTemporaryName(entry.name)) temporary.push(entry);
    else if (entry.type === 'directory') folders.push(entry.raw);
  }
}

/** What this process may not enter or remove, it did not leave there; what it has no descriptors for now is for the next start. */
const PASSED_OVER = ['permission_denied', 'not_found', 'not_directory', 'read_only', 'link_loop', 'exhausted'] as const;

/** Undefined for what is passed over. */
async function ignoringUnreachable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isFenceError(error, ...PASSED_OVER)) throw error;
    return undefined;
  }
}
