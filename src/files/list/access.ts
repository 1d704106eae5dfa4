import type { Stats } from 'node:fs';
import { type CallerPath, type Dir, isFenceError, type Root, withLocation } from '../../fence/index.ts';

/** What this process may do with an entry. To execute a folder is to enter it. */
export interface Access {
  readonly readable: boolean;
  readonly writable: boolean;
  readonly executable: boolean;
}

/**
 * What this process may do with what is at a path, links followed. For a regular file it is tried out, nothing being
 * changed, so that read-only mounts and access lists count; for anything else the mode bits tell.
 */
export async function accessOf(root: Root, path: CallerPath): Promise<Access> {
  return withLocation(root, path, () => {
    using found = root.locate(path, { follow: true });
    const { dir, name, stats } = found;
    if (stats === undefined) return { readable: false, writable: false, executable: false };
    const byMode = accessByMode(stats, currentUser());
    if (!stats.isFile()) return byMode;
    return {
      readable: isAllowed(() => dir.openFile(name)[Symbol.dispose]()),
      writable: isAllowed(() => dir.assertWritable(name)),
      executable: byMode.executable,
    };
  });
}

interface AccessUser {
  /** Undefined where the system has none (Windows): everybody counts as the owner. */
  readonly uid: number | undefined;
  readonly groups: readonly number[];
}

/** What the mode bits of an entry allow a user to do. */
export function accessByMode(stats: ModeBits, user: AccessUser): Access {
  const { mode, uid, gid } = stats;
  // The superuser may do anything, except execute what nobody may.
  if (user.uid === 0) {
    return { readable: true, writable: true, executable: stats.isDirectory() || (mode & 0o111) !== 0 };
  }
  const owner = user.uid === undefined || user.uid === uid;
  const bits = owner ? mode >> 6 : user.groups.includes(gid) ? mode >> 3 : mode;
  return { readable: (bits & 4) !== 0, writable: (bits & 2) !== 0, executable: (bits & 1) !== 0 };
}

/** Whether the mode bits allow this process to put entries in a folder and take them out. */
export function canChangeEntries(folder: Dir): boolean {
  const stats = folder.lstat('.');
  if (stats === undefined) return false;
  const { writable, executable } = accessByMode(stats, currentUser());
  return writable && executable;
}

type ModeBits = Pick<Stats, 'mode' | 'uid' | 'gid' | 'isDirectory'>;

function currentUser(): AccessUser {
  const groups = process.getgroups?.() ?? [];
  const group = process.getegid?.();
  return { uid: process.geteuid?.(), groups: group === undefined ? groups : [group, ...groups] };
}

function isAllowed(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if (isFenceError(error, 'permission_denied', 'read_only')) return false;
    throw error;
  }
}
