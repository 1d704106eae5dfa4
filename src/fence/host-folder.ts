import fs from 'node:fs';
import path from 'node:path';

/** Makes a folder of this machine, and those above it, unless it is there. Throws a system error where that fails. */
export function ensureHostFolder(hostPath: string): void {
  const folder = path.resolve(hostPath);
  if (made(folder)) return;
  // Node's own recursive mkdir never returns where making an entry is answered with ENOENT, as in /proc.
  ensureHostFolder(path.dirname(folder));
  if (!made(folder)) throw Object.assign(new Error('cannot be made'), { code: 'ENOENT' });
}

/** False if the folder above is missing. */
function made(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path.dirname(folder) !== folder) return false;
    if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return true;
    throw error;
  }
}
