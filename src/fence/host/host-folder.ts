import fs from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder of the host, and those above it, unless it exists, and flushes their names to disk. Does not
 * confine. Throws a system error if that fails.
 */
export function ensureHostFolder(hostPath: string): void {
  const folder = path.resolve(hostPath);
  if (tryMake(folder)) return;
  // Node's own recursive mkdir never returns where making an entry is answered with ENOENT, as in /proc.
  ensureHostFolder(path.dirname(folder));
  if (!tryMake(folder)) throw Object.assign(new Error('cannot be made'), { code: 'ENOENT' });
}

/**
 * Creates one folder unless it exists, and reports whether it is there now; it is not if the folder above it is
 * missing.
 */
function tryMake(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
    syncNames(path.dirname(folder));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path.dirname(folder) !== folder) return false;
    if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return true;
    throw error;
  }
}

/** Flushes the names in a folder to disk, as far as this process may and the file system can. */
function syncNames(folder: string): void {
  try {
    const fd = fs.openSync(folder, fs.constants.O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    // A folder that may only be entered, or a system that does not open folders: the folder is made all the same.
  }
}
