import type { Stats } from 'node:fs';
import { type CallerPath, type Dir, isFenceError, type Root, withLocation } from '../../fence/index.ts';

/** What this process may do with an entry. For a folder, executable means that it may be entered. */
export interface Access {
  readonly readable: boolean;
  readonly writable: boolean;
  readonly executable: boolean;
}

/**
 * Reports what this process may do with the entry at a path, links followed. A regular file is opened to find out,
 * without changing it, so that read-only mounts and ACLs are respected; for anything else the mode bits decide. A
 * missing entry allows nothing. Raises what `Root.locate` raises.
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
  /** Undefined where the system has no user IDs (Windows); the user then counts as the owner. */
  readonly uid: number | undefined;
  readonly groups: readonly number[];
}

/** Evaluates mode bits for a user. ACLs, capabilities and read-only mounts are not considered. */
export function accessByMode(stats: ModeBits, user: AccessUser): Access {
  const { mode, uid, gid } = stats;
  // The superuser may do anything, except execute a file that nobody may execute.
  if (user.uid === 0) {
    return { readable: true, writable: true, executable: stats.isDirectory() || (mode & 0o111) !== 0 };
  }
  const owner = user.uid === undefined || user.uid === uid;
  const bits = owner ? mode >> 6 : user.groups.includes(gid) ? mode >> 3 : mode;
  return { readable: (bits & 4) !== 0, writable: (bits & 2) !== 0, executable: (bits & 1) !== 0 };
}

/** Reports whether the mode bits allow this process to add and remove entries of a folder. */
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
    if (isFenceError(error, 'permission_denied', 'read_only', 'not_allowed')) return false;
    throw error;
  }
}
