import path from 'node:path';
import { type CallerPath, type Dir, isFenceError, type Location, type Root } from '../../fence/index.ts';
import { FileError } from '../errors.ts';
import { isWithin } from './is-within.ts';

/** Refuses to put a folder where it is itself (`same_file`) or inside itself (`into_itself`). */
export function assertDisjoint(source: Dir, place: string): void {
  const top = source.hostPath();
  if (place === top) throw new FileError('same_file', {});
  if (isWithin(top, place)) throw new FileError('into_itself', {});
}

/** Where an entry is on the host, or would be. For comparing only. */
export function hostPathOf({ dir, name, stats }: Location): string {
  if (!stats?.isDirectory()) return path.join(dir.hostPath(), name);
  // Opened, because a disk may spell a name in another way than the caller did.
  using folder = dir.openDir(name);
  return folder.hostPath();
}

interface ProspectivePath {
  readonly root: Root;
  readonly path: CallerPath;
}

/**
 * Where a path would be on the host once the missing folders on the way are made, before any is: its existing part
 * decides, links followed, dangling ones too. `follow` says whether a link in the last place counts as well.
 */
export function prospectiveHostPath(
  { root, path: { raw, segments } }: ProspectivePath,
  { follow }: { follow: boolean },
): string {
  for (let length = segments.length; ; length -= 1) {
    const rest = segments.slice(length);
    try {
      const way = { raw, segments: segments.slice(0, length) };
      using found = root.locate(way, { follow: follow || rest.length > 0 });
      const dangling = rest.length > 0 ? linkIn(found, rest) : undefined;
      if (dangling === undefined) return path.join(hostPathOf(found), ...rest);
      if (path.isAbsolute(dangling)) return path.join(dangling, ...rest.slice(1));
      const through = [...found.path.split('/'), ...dangling.split('/'), ...rest.slice(1)].filter(Boolean);
      return prospectiveHostPath({ root, path: { raw, segments: through } }, { follow });
    } catch (error) {
      if (length === 0 || !isFenceError(error, 'not_found', 'not_directory')) throw error;
    }
  }
}

/** Where the next name leads, if it is a link. It leads to what is missing, or the way would not have ended before it. */
function linkIn({ dir, name, stats }: Location, [next]: readonly string[]): string | undefined {
  if (!stats?.isDirectory() || next === undefined) return undefined;
  using folder = dir.openDir(name);
  return folder.lstat(next)?.isSymbolicLink() ? folder.readlink(next) : undefined;
}
