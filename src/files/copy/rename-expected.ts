import { heldName, isFenceError } from '../../fence/index.ts';
import { refreshed } from '../lease/see-latest.ts';
import { isAsBefore } from '../remove/remove-if-as-before.ts';
import { ABSENT, assertVersion, mismatch } from '../write/if-match.ts';
import { isSameFile } from '../write/replace-file.ts';
import { atEnd, bringBack, type MoveJob } from './move-job.ts';

/**
 * Renames a file or link that had the expected version before. This process may have been stopped since, and have lost
 * its leases: so the entry gets a hidden name first, and its own one back if it is another by now. If this process is
 * killed meanwhile, the next start gives it the name of the destination. An absent destination is not replaced; one
 * that had an expected version may be another by now. Raises `version_mismatch`, and what rename(2) raises.
 */
export async function renameExpected({ source, target, expected, options }: MoveJob): Promise<undefined> {
  const { dir, name } = target.at;
  const before = source.at.dir.lstat(source.at.name);
  if (expected !== undefined) atEnd(source, () => assertVersion(before, expected));
  const hidden = heldName(name);
  atEnd(source, (at) => at.dir.rename(at.name, dir, hidden));
  try {
    const moved = refreshed({ dir, name: hidden });
    if (expected !== undefined && !isAsBefore(before, moved)) {
      throw mismatch(expected, moved).addLocation(source.path.raw, source.root.name);
    }
    if (options.overwrite === false || options.ifDestination === ABSENT) dir.renameNoReplace(hidden, dir, name);
    // POSIX: renaming a hard link over another link to the same file does nothing, and both names remain.
    else if (isSameFile(moved, dir.lstat(name))) dir.unlink(hidden);
    else dir.rename(hidden, dir, name);
  } catch (error) {
    bringBack(source, { dir, name: hidden });
    const isTaken = options.ifDestination === ABSENT && isFenceError(error, 'already_exists');
    throw isTaken ? mismatch(ABSENT, dir.lstat(name)) : error;
  }
}
