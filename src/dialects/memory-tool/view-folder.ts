import { type CallerPath, isFenceError, type Root } from '../../fence/index.ts';
import { type FolderEntry, listFolder } from '../../files/list/list-folder.ts';
import { statPath } from '../../files/list/stat-path.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { formatSize } from '../../wire/format-size.ts';

const LEVELS = 2;

/**
 * Lists two levels of a folder with sizes, without hidden entries and node_modules. A link is shown as its target; a
 * dangling link or one that leads outside is left out. Raises the codes of `listFolder` for the folder itself, but not
 * for folders below.
 */
export async function viewFolder(root: Root, path: CallerPath): Promise<string> {
  // The caller may write the folder with a trailing slash.
  const shown = path.raw.replace(/[\\/]+$/, '');
  const lines = [
    `Here're the files and directories up to ${LEVELS} levels deep in ${path.raw}, excluding hidden items and node_modules:`,
    `${formatSize(sizeAt(root, path), 'short')}\t${path.raw}`,
  ];

  async function list(folder: CallerPath, prefix: string, level: number): Promise<void> {
    for (const entry of await entriesOf(folder, level)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const type = entry.targetType ?? entry.type;
      if (type !== 'file' && type !== 'directory') continue;
      const child = { raw: `${prefix}/${entry.name}`, segments: [...folder.segments, entry.name] };
      lines.push(`${formatSize(sizeOf(root, child, entry), 'short')}\t${child.raw}${type === 'directory' ? '/' : ''}`);
      if (type === 'directory' && level < LEVELS) await list(child, child.raw, level + 1);
    }
  }

  /**
   * Treats a nested folder that cannot be read, or was removed meanwhile, as empty, so that the others are still
   * listed.
   */
  async function entriesOf(folder: CallerPath, level: number): Promise<FolderEntry[]> {
    try {
      return await listFolder(root, folder, DEFAULT_CONTEXT);
    } catch (error) {
      if (level > 1 && isFenceError(error, 'permission_denied', 'not_found', 'not_directory')) return [];
      throw error;
    }
  }

  await list(path, shown, 1);
  return lines.join('\n');
}

function sizeOf(root: Root, path: CallerPath, { type, size }: FolderEntry): number {
  return type === 'symlink' ? sizeAt(root, path) : size;
}

function sizeAt(root: Root, path: CallerPath): number {
  const { stats, target } = statPath(root, path);
  return (target ?? { stats }).stats.size;
}
