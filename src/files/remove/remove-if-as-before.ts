import type { Stats } from 'node:fs';
import { type Dir, heldName, isFenceError } from '../../fence/index.ts';
import { refreshed } from '../lease/see-latest.ts';
import { renameFree } from '../rename-free.ts';
import { isSameFile } from '../write/replace-file.ts';

interface CheckedEntry {
  readonly dir: Dir;
  readonly name: string;
  /** What the entry was when it was checked. */
  readonly before: Stats | undefined;
}

/**
 * Removes a file or link that was checked before, and reports whether it was still the same. This process may have been
 * stopped since the check, and have lost its lease: so the entry gets a hidden name first, and its own one back if it
 * is another or cannot be removed, or a similar one if something else has that by now. If this process is killed
 * meanwhile, the next start gives it back.
 */
export async function removeIfAsBefore({ dir, name, before }: CheckedEntry): Promise<boolean> {
  const hidden = heldName(name);
  dir.rename(name, dir, hidden);
  let isExpected = false;
  try {
    isExpected = isAsBefore(before, refreshed({ dir, name: hidden }));
  } finally {
    if (!isExpected) renameFree({ dir, name: hidden }, { dir, name });
  }
  if (isExpected) unlinkHidden(dir, hidden, name);
  return isExpected;
}

/** Unlinks a hidden entry. If that fails, it gets its name back, and the failure is raised. */
function unlinkHidden(dir: Dir, hidden: string, name: string): void {
  try {
    dir.unlink(hidden);
  } catch (error) {
    try {
      renameFree({ dir, name: hidden }, { dir, name });
    } catch (problem) {
      // It was unlinked in spite of the failure, as network file systems do now and then.
      if (isFenceError(problem, 'not_found')) return;
    }
    throw error;
  }
}

/** Reports whether a renamed file is the one from before. The rename has set its change time, and so its version. */
export function isAsBefore(before: Stats | undefined, now: Stats | undefined): boolean {
  return isSameFile(before, now) && now?.size === before?.size && now?.mtimeMs === before?.mtimeMs;
}
