import fs from 'node:fs';
import path from 'node:path';

/**
 * Returns everything below a folder that an undo has to bring back, one line an entry: bytes, mode, link target, and the
 * modification time of files and links to the nanosecond. Folders come without times, and the program's own folder not
 * at all.
 */
export function treeState(folder: string): string[] {
  const lines: string[] = [];
  const visit = (below: string): void => {
    for (const name of fs.readdirSync(path.join(folder, below)).sort()) {
      if (name === '.ringfence') continue;
      const at = path.join(below, name);
      const host = path.join(folder, at);
      const { mode, mtimeNs } = fs.lstatSync(host, { bigint: true });
      const shown = `${at} ${(mode & 0o7777n).toString(8)}`;
      if (fs.lstatSync(host).isDirectory()) {
        lines.push(`${shown} folder`);
        visit(at);
      } else if (fs.lstatSync(host).isSymbolicLink()) {
        lines.push(`${at} -> ${fs.readlinkSync(host)} ${mtimeNs}`);
      } else {
        lines.push(`${shown} ${mtimeNs} ${fs.readFileSync(host).toString('base64')}`);
      }
    }
  };
  visit('');
  return lines;
}
