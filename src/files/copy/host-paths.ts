import path from 'node:path';
import { type CallerPath, type Dir, FenceError, isFenceError, type Location, type Root } from '../../fence/index.ts';
import { FileError } from '../errors.ts';

/**
 * Reports whether a path lies below a folder; the folder itself does not. Both are real host paths, as from
 * `Dir.hostPath`.
 */
export function isWithin(folder: string, hostPath: string): boolean {
  return hostPath !== folder && hostPath.startsWith(path.join(folder, path.sep));
}

/** Raises `same_file` if a destination is the source folder itself, and `into_itself` if it is inside it. */
export function assertDisjoint(source: Dir, destination: string): void {
  const top = source.hostPath();
  if (destination === top) throw new FileError('same_file', {});
  if (isWithin(top, destination)) throw new FileError('into_itself', {});
}

/** Returns the host path of an entry that exists or could be created. For comparisons only: never open it. */
export function hostPathOf({ dir, name, stats }: Location): string {
  if (!stats?.isDirectory()) return path.join(dir.hostPath(), name);
  // Opening the folder yields its true name: a case-insensitive filesystem accepts other spellings too.
  using folder = dir.openDir(name);
  return folder.hostPath();
}

interface ProspectivePath {
  readonly root: Root;
  readonly path: CallerPath;
}

/**
 * Returns the host path that a caller's path would have once its missing folders are created, without creating any: the
 * longest existing prefix is resolved, links included, dangling ones too. `follow` says whether a link as the last name
 * is followed. For comparisons only. Raises what `Root.locate` raises, except for missing folders.
 */
export function prospectiveHostPath(path: ProspectivePath, { follow }: { follow: boolean }): string {
  return prospective(path, { follow, linksLeft: MAX_DANGLING_LINKS });
}

/** As many links as Linux follows in one path. */
const MAX_DANGLING_LINKS = 40;

function prospective(
  { root, path: { raw, segments } }: ProspectivePath,
  { follow, linksLeft }: { follow: boolean; linksLeft: number },
): string {
  const again = (names: readonly string[], left: number): string =>
    prospective({ root, path: { raw, segments: names.filter(isName) } }, { follow, linksLeft: left });
  for (let length = segments.length; ; length -= 1) {
    const rest = segments.slice(length);
    try {
      const prefix = { raw, segments: segments.slice(0, length) };
      using found = root.locate(prefix, { follow: follow || rest.length > 0 });
      // A link's target may pass through a folder that has to be created first: `missing/../g`.
      if (found.stats === undefined && rest[0] === '..') return again(segments.toSpliced(length - 1, 2), linksLeft);
      const dangling = rest.length > 0 ? linkIn(found, rest) : undefined;
      if (dangling === undefined) return path.join(hostPathOf(found), ...rest);
      if (path.isAbsolute(dangling)) return path.join(dangling, ...rest.slice(1));
      if (linksLeft === 0) throw new FenceError('link_loop', {});
      return again([...found.path.split('/'), ...dangling.split('/'), ...rest.slice(1)], linksLeft - 1);
    } catch (error) {
      if (length === 0 || !isFenceError(error, 'not_found', 'not_directory')) throw error;
    }
  }
}

function isName(part: string): boolean {
  return part !== '' && part !== '.';
}

/** Returns the text of the next name if it is a link. Its target is missing, or the existing prefix would be longer. */
function linkIn({ dir, name, stats }: Location, [next]: readonly string[]): string | undefined {
  if (!stats?.isDirectory() || next === undefined) return undefined;
  using folder = dir.openDir(name);
  return folder.lstat(next)?.isSymbolicLink() ? folder.readlink(next) : undefined;
}
