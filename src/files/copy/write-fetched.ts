import { type CallerPath, FenceError, isFenceError, type RootPath } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { makeFolder } from '../write/make-folder.ts';
import { writeFile } from '../write/write-file.ts';
import { resolveInto } from './copy.ts';

/** A folder fetched from the agent's side. The `names` are the path of each entry below it, and are not validated. */
export interface FetchedFolder {
  readonly folders: readonly (readonly string[])[];
  readonly files: readonly { readonly names: readonly string[]; readonly bytes: Buffer }[];
}

/**
 * Writes a file fetched from the agent's side atomically to a destination, or into it if that is a folder. Returns the path it
 * was written to. Raises what `writeFile` raises.
 */
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

/**
 * Writes a folder fetched from the agent's side to a destination, or into it if that is a folder, merging with an existing
 * folder. Returns the path it was written to. Each file is written atomically, the folder as a whole is not. Raises
 * `not_directory`, what `Root.parse` raises for invalid names, what `writeFile` raises, and the reason of an aborted signal.
 */
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
  await ensureFolder(end);
  for (const names of folders) await ensureFolder({ root, path: below(names) });
  for (const [done, { names, bytes }] of files.entries()) {
    // Flushing every file of a large tree would take minutes.
    await writeFile(root, below(names), bytes, { mode: 'overwrite', durable: false });
    context.progress?.(done + 1, files.length);
    await pause();
  }
  return path.raw;
}

async function ensureFolder({ root, path }: RootPath): Promise<void> {
  if (path.segments.length === 0) return;
  try {
    await makeFolder(root, path);
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
    throw new FenceError('not_directory', {}, { path: path.raw, root: root.name });
  }
}
