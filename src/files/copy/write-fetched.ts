import { type CallerPath, FenceError, isFenceError, type RootPath, withLocation } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { statPath } from '../list/stat-path.ts';
import { ABSENT, mismatch } from '../write/if-match.ts';
import { makeFolder } from '../write/make-folder.ts';
import { writeFile } from '../write/write-file.ts';
import { resolveInto } from './copy.ts';

/** Options of `writeFetchedFile` and `writeFetchedFolder`, as those of `copy`. */
export interface WriteFetchedOptions {
  readonly durable: boolean;
  readonly overwrite?: boolean;
  readonly ifMatch?: string | undefined;
}

/**
 * A folder whose content is already in memory. The `names` are the path of each entry below it, and are not validated.
 */
export interface FetchedFolder {
  readonly folders: readonly (readonly string[])[];
  readonly files: readonly { readonly names: readonly string[]; readonly bytes: Buffer }[];
}

/**
 * Writes a file whose content is already in memory atomically to a destination, or into it if that is a folder. Returns
 * the path it was written to. Raises what `writeFile` raises.
 */
export async function writeFetchedFile(
  source: CallerPath,
  bytes: Buffer,
  to: RootPath,
  context: OperationContext,
  { durable, overwrite = true, ifMatch }: WriteFetchedOptions,
): Promise<string> {
  const { root, path } = resolveInto(source, to);
  await writeFile(root, path, bytes, { mode: overwrite ? 'overwrite' : 'create_only', durable, ifMatch }, context);
  return path.raw;
}

/**
 * Writes a folder whose content is already in memory to a destination, or into it if that is a folder, merging with an
 * existing folder. Returns the path it was written to. Each file is written atomically, the folder as a whole is not.
 * Raises `not_directory`, `already_exists` without `overwrite`, `version_mismatch` and `is_directory` for `ifMatch`,
 * what `Root.parse` raises for invalid names, what `writeFile` raises, and the reason of an aborted signal.
 */
export async function writeFetchedFolder(
  source: CallerPath,
  { folders, files }: FetchedFolder,
  to: RootPath,
  context: OperationContext,
  { durable, overwrite = true, ifMatch }: WriteFetchedOptions = { durable: true },
): Promise<string> {
  const end = resolveInto(source, to);
  if (ifMatch !== undefined && ifMatch !== ABSENT) throw new FenceError('is_directory', {}, { path: source.raw });
  const { root, path } = end;
  const pause = yieldPoint(context);
  const below = (names: readonly string[]): CallerPath => root.parse([path.raw, ...names].join('/'));
  const making = { durable, context };
  await (overwrite && ifMatch === undefined ? ensureFolder(end, making) : makeNewFolder(end, making, ifMatch));
  for (const names of folders) await ensureFolder({ root, path: below(names) }, making);
  for (const [done, { names, bytes }] of files.entries()) {
    await writeFile(root, below(names), bytes, { mode: 'overwrite', durable }, context);
    context.progress?.(done + 1, files.length);
    await pause();
  }
  return path.raw;
}

/**
 * Creates a folder. One that exists is `already_exists`, or `version_mismatch` if the caller said that it is absent.
 */
async function makeNewFolder(
  { root, path }: RootPath,
  { durable, context }: Making,
  ifMatch: string | undefined,
): Promise<void> {
  await withLocation(root, path, async () => {
    const { created } = await makeFolder(root, path, { durable }, context);
    if (created) return;
    if (ifMatch === undefined) throw new FenceError('already_exists', {});
    throw mismatch(ifMatch, statPath(root, path).stats);
  });
}

interface Making {
  readonly durable: boolean;
  readonly context: OperationContext;
}

async function ensureFolder({ root, path }: RootPath, { durable, context }: Making): Promise<void> {
  if (path.segments.length === 0) return;
  try {
    await makeFolder(root, path, { durable }, context);
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
    throw new FenceError('not_directory', {}, { path: path.raw, root: root.name });
  }
}
