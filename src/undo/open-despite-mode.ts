import { type Dir, isFenceError, type Name, type OpenFile } from '../fence/index.ts';

/**
 * Opens a file to read and change it, also if its mode allows its owner less: who may only write to a file can append to
 * it, and that has to be taken back. The mode is changed only while the file is opened.
 */
export function openDespiteMode(dir: Dir, name: Name, open: () => OpenFile): OpenFile {
  try {
    return open();
  } catch (error) {
    const stats = isFenceError(error, 'permission_denied') ? dir.lstat(name) : undefined;
    if (!stats?.isFile() || (stats.mode & OWNER) === OWNER) throw error;
    const mode = stats.mode & 0o7777;
    dir.chmod(name, mode | OWNER);
    try {
      return open();
    } finally {
      dir.chmod(name, mode);
    }
  }
}

/** The mode bits that let the owner read and write. */
const OWNER = 0o600;
