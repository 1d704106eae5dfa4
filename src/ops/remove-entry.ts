import { isCode } from '../errors.ts';
import type { CallerPath, Root } from '../fence/index.ts';
import { UNCONTROLLED } from './control.ts';
import { removeFile } from './remove-file.ts';
import { removeFolder } from './remove-folder.ts';

export interface RemoveEntryOptions {
  /** Called before a folder is removed; throws to refuse. */
  beforeFolder?(): void;
}

/** Removes a file, a link itself, or a folder with nothing in it, hidden entries included (`not_empty`). */
export async function removeEntry(
  root: Root,
  path: CallerPath,
  { beforeFolder }: RemoveEntryOptions = {},
): Promise<void> {
  try {
    await removeFile(root, path);
  } catch (error) {
    if (!isCode(error, 'is_directory')) throw error;
    beforeFolder?.();
    await removeFolder(root, path, UNCONTROLLED, { recursive: false });
  }
}
