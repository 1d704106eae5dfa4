import { type CallerPath, type OpenFile, type Root, withLocationSync } from '../../fence/index.ts';
import { FileError } from '../errors.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { keyOf, type LeasedEntry } from '../lease/lease-key.ts';
import { leasesOf } from '../lease/leases.ts';
import { isLatest } from '../lease/see-latest.ts';

interface CopiedEntry extends LeasedEntry {
  readonly root: Root;
  readonly path: CallerPath;
  readonly signal: AbortSignal;
}

/**
 * Opens a file to copy, as the last holder of its lease has left it. A machine that has listed a folder while a
 * temporary file in it was written may show the file that it becomes with too small a size for a second, and reading it
 * ends there. So after the file is opened, it is compared with the note once more. Raises `changed_meanwhile` if it was
 * replaced since, for the caller to try again, what `openFile` raises with the path of the file, and the reason of an
 * aborted signal.
 */
export async function openLatest({ root, path, dir, name, signal }: CopiedEntry): Promise<OpenFile> {
  const leases = leasesOf(root);
  await awaitLatest(root, path, { signal });
  const file = withLocationSync(root, path, () => dir.openFile(name));
  if (!leases?.isShared(root)) return file;
  try {
    const key = keyOf({ dir, name });
    const note = await leases.noteOf(key);
    if (!note || leases.isOverruled(key, note) || isLatest(file.stats, note)) return file;
    throw new FileError('changed_meanwhile', {}, { path: path.raw, root: root.name });
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}
