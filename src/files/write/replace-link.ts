import { type Name, temporaryName } from '../../fence/index.ts';
import { assertReplaceable, type ReplaceTarget } from './replace-file.ts';

/**
 * Creates a symbolic link, atomically replacing whatever `replaceFile` could replace. Raises what `assertReplaceable`
 * raises, or with `overwrite` off `already_exists`. After a failure the target is unchanged and no temporary link
 * remains.
 */
export function replaceLink(
  target: ReplaceTarget,
  linkText: Name,
  { overwrite = true }: { readonly overwrite?: boolean },
): void {
  const { dir, name } = target;
  if (!overwrite) {
    dir.symlink(linkText, name);
    return;
  }
  assertReplaceable(target);
  const temporary = temporaryName();
  dir.symlink(linkText, temporary);
  try {
    dir.rename(temporary, dir, name);
  } catch (error) {
    dir.unlink(temporary);
    throw error;
  }
}
