import { type Name, temporaryName } from '../../fence/index.ts';
import { assertReplaceable, type ReplaceTarget } from './replace-file.ts';

/**
 * Puts a link in place in one step, over whatever a file might replace. Raises what `assertReplaceable` raises, or with
 * `overwrite` off `already_exists`. A failure leaves what was there and nothing else.
 */
export function replaceLink(
  place: ReplaceTarget,
  target: Name,
  { overwrite = true }: { readonly overwrite?: boolean },
): void {
  const { dir, name } = place;
  if (!overwrite) {
    dir.symlink(target, name);
    return;
  }
  assertReplaceable(place);
  const temporary = temporaryName();
  dir.symlink(target, temporary);
  try {
    dir.rename(temporary, dir, name);
  } catch (error) {
    dir.unlink(temporary);
    throw error;
  }
}
