import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  type CallerPath,
  type Dir,
  isFenceError,
  type Location,
  type Name,
  type ResolveOptions,
  type Root,
} from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import { fileChunks } from '../read/file-chunks.ts';
import { versionOf } from '../version.ts';

/** The version of an entry that must not exist. */
export const ABSENT = 'absent';
const SHA256 = 'sha256:';

/** The entry that a condition is about, and what is needed to read it. */
export interface MatchTarget {
  readonly root: Root;
  readonly dir: Dir;
  readonly name: Name;
  readonly context: OperationContext;
}

/**
 * Finds where a path ends, for a write that has a condition. Missing parent folders are created only if the entry has
 * to be absent: after a mismatch they would remain. Raises `version_mismatch` if they are missing otherwise, and what
 * `Root.locate` raises.
 */
export function locateToMatch(
  root: Root,
  path: CallerPath,
  ifMatch: string,
  { follow = true, makeParents = true, onMake }: Partial<ResolveOptions> = {},
): Location {
  try {
    return root.locate(path, { follow, makeParents: makeParents && ifMatch === ABSENT, onMake });
  } catch (error) {
    if (ifMatch === ABSENT || !isFenceError(error, 'not_found')) throw error;
    throw mismatch(ifMatch, undefined);
  }
}

/**
 * Returns the version that an entry must have at the moment of the change, from what a caller asked for: a version
 * itself, `absent`, or `sha256:` and the hash of the content in hexadecimal. A file is hashed here, ahead of the
 * change, so that the change itself compares versions only. Raises `version_mismatch` if the content has another hash,
 * and the reason of an aborted signal.
 */
export async function expectedVersion(ifMatch: string, target: MatchTarget): Promise<string> {
  if (!ifMatch.startsWith(SHA256)) return ifMatch;
  const { root, dir, name, context } = target;
  const now = dir.lstat(name);
  if (!now?.isFile()) throw mismatch(ifMatch, now);
  try {
    using file = dir.openFile(name);
    const hash = createHash('sha256');
    for await (const chunk of fileChunks(file, { root, context })) hash.update(chunk);
    if (hash.digest('hex') !== ifMatch.slice(SHA256.length).toLowerCase()) throw mismatch(ifMatch, file.stats);
    return versionOf(file.stats);
  } catch (error) {
    // Removed since, or replaced by a link or a folder.
    if (!isFenceError(error, 'not_found', 'link_loop', 'is_directory', 'special_file')) throw error;
    throw mismatch(ifMatch, dir.lstat(name));
  }
}

/** Raises `version_mismatch` unless an entry, undefined if there is none, has the expected version. */
export function assertVersion(now: Stats | undefined, expected: string): void {
  if ((now === undefined ? ABSENT : versionOf(now)) !== expected) throw mismatch(expected, now);
}

/** Makes the error for an entry that is not as expected. */
export function mismatch(expected: string, now: Stats | undefined): FileError<'version_mismatch'> {
  return new FileError('version_mismatch', {
    expected,
    now: now && { version: versionOf(now), size: now.size, mtimeMs: now.mtimeMs, isLink: now.isSymbolicLink() },
  });
}
