import { type CallerPath, FenceError, isFenceError, type RootPath } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { makeFolder } from '../write/make-folder.ts';
import { writeFile } from '../write/write-file.ts';
import { resolveInto } from './copy.ts';

/** A folder that was fetched from elsewhere. The names lead to each entry from it; nobody has checked them. */
export interface FetchedFolder {
  readonly folders: readonly (readonly string[])[];
  readonly files: readonly { readonly names: readonly string[]; readonly bytes: Buffer }[];
}

/** Puts a file that was fetched from elsewhere in a root, whole or not at all, into the destination if that is a folder. */
export async function writeFetchedFile(
  source: CallerPath,
  bytes: Buffer,
  to: RootPath,
  { durable }: { readonly durable: boolean },
): Promise<string> {
  const { root, path } = resolveInto(source, to);
  await writeFile(root, path, bytes, { mode: 'overwrite', durable });
  return path.raw;
}

/** The same for a folder: each file lands whole. One that is there already is merged with. */
export async function writeFetchedFolder(
  source: CallerPath,
  { folders, files }: FetchedFolder,
  to: RootPath,
  context: OperationContext,
): Promise<string> {
  const end = resolveInto(source, to);
  const { root, path } = end;
  const pause = yieldPoint(context);
  const below = (names: readonly string[]): CallerPath => root.parse([path.raw, ...names].join('/'));
  await folderAt(end);
  for (const names of folders) await folderAt({ root, path: below(names) });
  for (const [done, { names, bytes }] of files.entries()) {
    // As for a copied tree, flushing every file would take minutes.
    await writeFile(root, below(names), bytes, { mode: 'overwrite', durable: false });
    context.progress?.(done + 1, files.length);
    await pause();
  }
  return path.raw;
}

async function folderAt({ root, path }: RootPath): Promise<void> {
  if (path.segments.length === 0) return;
  try {
    await makeFolder(root, path);
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
    throw new FenceError('not_directory', {}, { path: path.raw, root: root.name });
  }
}
