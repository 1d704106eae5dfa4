import { isCode } from '../errors.ts';
import { type CallerPath, type Entry, type EntryType, type Root, typeOf } from '../fence/index.ts';
import { byCodePoint } from './code-point-order.ts';
import { type Control, pacer } from './control.ts';
import { located } from './located.ts';

/** Where a link leads: `external` is outside the root, `missing` is nowhere or round in a circle. */
type TargetType = 'file' | 'directory' | 'other' | 'external' | 'missing';

export interface FolderEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size: number;
  readonly modified: Date;
  readonly targetType?: TargetType;
}

/** The direct children of a folder, hidden ones too, by code point. An entry that vanishes meanwhile is left out. */
export async function listFolder(root: Root, path: CallerPath, control: Control): Promise<FolderEntry[]> {
  return located(root, path, async () => {
    using dir = root.openDir(path);
    const pause = pacer(control);
    const entries: FolderEntry[] = [];
    for (const entry of dir.list().sort((a, b) => byCodePoint(a.name, b.name))) {
      await pause();
      const stats = dir.lstat(entry.raw);
      if (stats === undefined) continue;
      const plain = { name: entry.name, type: typeOf(stats), size: stats.size, modified: stats.mtime };
      entries.push(plain.type === 'symlink' ? { ...plain, targetType: targetType(root, path, entry) } : plain);
    }
    return entries;
  });
}

/** What resolving a link may fail with that says nothing about its neighbours. */
const LEADS_NOWHERE = [
  'link_loop',
  'not_found',
  'not_directory',
  'permission_denied',
  'name_too_long',
  'invalid_path',
] as const;

/** What a link leads to, without opening it. */
function targetType(root: Root, folder: CallerPath, link: Entry): TargetType {
  try {
    using target = root.locate({ raw: link.name, segments: [...folder.segments, link.name] }, { follow: true });
    if (target.stats === undefined) return 'missing';
    const type = typeOf(target.stats);
    return type === 'symlink' ? 'missing' : type;
  } catch (error) {
    if (isCode(error, 'outside_root')) return 'external';
    if (isCode(error, ...LEADS_NOWHERE)) return 'missing';
    throw error;
  }
}
