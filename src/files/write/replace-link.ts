import type { Stats } from 'node:fs';
import { type Name, temporaryName } from '../../fence/index.ts';
import type { Change } from '../../history/index.ts';
import { assertReplaceable, type ReplaceOptions, type ReplaceTarget, removeIfPresent } from './replace-file.ts';

interface ReplaceLinkOptions extends Pick<ReplaceOptions, 'lease' | 'onLanded'> {
  readonly overwrite?: boolean;
  /** Flush the record of the change to disk first. The caller flushes the folder. */
  readonly durable?: boolean | 'content';
  /** The change in the root's history that this is part of; undefined if nothing is kept. */
  readonly change?: Change | undefined;
}

/**
 * Creates a symbolic link, atomically replacing whatever `replaceFile` could replace. Raises what `assertReplaceable`
 * and `FileLease.confirm` raise, or with `overwrite` off `already_exists`. After a failure the target is unchanged and
 * no temporary link remains.
 */
export async function replaceLink(
  target: ReplaceTarget,
  linkText: Name,
  { overwrite = true, durable, change, lease, onLanded }: ReplaceLinkOptions,
): Promise<void> {
  const { dir, name } = target;
  if (overwrite) assertReplaceable(target);
  const temporary = temporaryName();
  dir.symlink(linkText, temporary);
  const step = await change?.put(target, dir.lstat(temporary) as Stats);
  try {
    if (durable) await step?.flush();
    await lease?.confirm();
    lease?.leavesUnknown();
    if (overwrite) dir.rename(temporary, dir, name);
    else dir.renameNoReplace(temporary, dir, name);
    onLanded?.();
    const made = dir.lstat(name);
    lease?.leaves(made);
    step?.done(made);
  } catch (error) {
    step?.cancel();
    removeIfPresent(target, temporary);
    throw error;
  }
}
