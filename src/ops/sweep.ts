import { isCode } from '../errors.ts';
import { type Dir, isLeftover, isTemporary, parseCallerPath, type Root } from '../fence/index.ts';
import { type Control, pacer } from './control.ts';
import { discardTree } from './remove-folder.ts';

/** Removes temporary files and folders that killed processes left anywhere in a root. Returns how many. */
export async function sweepLeftovers(root: Root, control: Control): Promise<number> {
  const pause = pacer(control);
  let swept = 0;

  async function sweep(dir: Dir): Promise<void> {
    for (const entry of dir.list(true)) {
      await pause();
      try {
        const stats = isTemporary(entry.name) ? dir.lstat(entry.raw) : undefined;
        if (stats !== undefined && isLeftover(entry.name, stats)) {
          if (stats.isDirectory()) await discardTree(dir, entry.raw);
          else dir.unlink(entry.raw);
          swept += 1;
        } else if (entry.type === 'directory') {
          using child = dir.openDir(entry.raw);
          await sweep(child);
        }
      } catch (error) {
        // What this process may not enter or remove, it did not leave there.
        if (!isCode(error, 'permission_denied', 'not_found', 'not_directory', 'read_only', 'link_loop')) throw error;
      }
    }
  }

  using top = root.openDir(parseCallerPath('.'));
  await sweep(top);
  return swept;
}
