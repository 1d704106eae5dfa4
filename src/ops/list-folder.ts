import { isCode } from '../errors.ts';
import { type CallerPath, type EntryType, type Root, typeOf } from '../fence/index.ts';
import { byCodePoint } from './code-point-order.ts';
import { type Control, pacer } from './control.ts';
import { leadsNowhere } from './leads-nowhere.ts';
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
      // Awaiting nothing would still cost each entry a turn of the queue.
      const wait = pause();
      if (wait !== undefined) await wait;
      const found = dir.brief(entry.raw);
      if (found === undefined) continue;
      const { name } = entry;
      const { type, size } = found;
      // Rounded as Node rounds the times of `stats`, so that every tool tells the same.
      const modified = new Date(Math.round(found.mtimeMs));
      if (type !== 'symlink') entries.push({ name, type, size, modified });
      else entries.push({ name, type, size, modified, targetType: targetType(root, path, name) });
    }
    return entries;
  });
}

/** What a link leads to, without opening it. */
function targetType(root: Root, folder: CallerPath, link: string): TargetType {
  try {
    using target = root.locate({ raw: link, segments: [...folder.segments, link] }, { follow: true });
    if (target.stats === undefined) return 'missing';
    const type = typeOf(target.stats);
    return type === 'symlink' ? 'missing' : type;
  } catch (error) {
    if (isCode(error, 'outside_root')) return 'external';
    if (leadsNowhere(error)) return 'missing';
    throw error;
  }
}
