import type { Stats } from 'node:fs';
import {
  type CallerPath,
  FenceError,
  isFenceError,
  type Location,
  type OpenFile,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { replaceFile } from './replace-file.ts';

/** How `writeFile` treats an existing file. */
export const WRITE_MODES = ['overwrite', 'append', 'create_only'] as const;
/** A mode of `writeFile`. */
export type WriteMode = (typeof WRITE_MODES)[number];

/** Options of `writeFile`. */
export interface WriteOptions {
  /** How an existing file is treated; by default `overwrite`. */
  readonly mode?: WriteMode;
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Create missing parent folders (the default). */
  readonly makeParents?: boolean;
}

/**
 * Writes a file, following links that stay inside the root, and returns its new stats. Overwriting and creating are atomic. An
 * append is one `O_APPEND` write; if it is incomplete, the file is truncated to its former size, which also removes what
 * another process appended meanwhile.
 *
 * Raises `is_directory`; with `create_only`, `already_exists` for any existing entry, a dangling link included; `disk_full`
 * for an incomplete append; and what `replaceFile` and `Root.locate` raise.
 */
export async function writeFile(
  root: Root,
  path: CallerPath,
  bytes: Buffer,
  options: WriteOptions = {},
): Promise<Stats> {
  const { mode = 'overwrite', durable = true, makeParents = true } = options;
  return withLocation(root, path, async () => {
    if (path.segments.length === 0) throw new FenceError('is_directory', {});
    if (mode === 'create_only') assertNoLink(root, path);
    using place = root.locate(path, { follow: mode !== 'create_only', makeParents });
    if (place.stats?.isDirectory()) throw new FenceError('is_directory', {});
    if (mode === 'append') return await append(place, bytes, durable);
    return await replaceFile(place, bytes, { durable, over: mode === 'create_only' ? 'nothing' : 'anything' });
  });
}

/** Raises `already_exists` if there is an entry at the path, or `outside_root` if it is a link that leads outside. */
function assertNoLink(root: Root, path: CallerPath): void {
  try {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) return;
    if (found.stats.isSymbolicLink()) root.locate(path, { follow: true })[Symbol.dispose]();
  } catch (error) {
    if (isFenceError(error, 'not_found')) return;
    throw error;
  }
  throw new FenceError('already_exists', {});
}

async function append(place: Location, bytes: Buffer, durable: boolean): Promise<Stats> {
  let written: Stats;
  {
    using file = place.dir.openForAppend(place.name);
    appendOnce(place, file, bytes);
    written = file.stat();
    if (durable) await file.sync();
  }
  if (durable && place.stats === undefined) await place.dir.sync();
  return written;
}

function appendOnce(place: Location, file: OpenFile, bytes: Buffer): void {
  const before = file.stat().size;
  let written = 0;
  try {
    if (bytes.length > 0) written = file.writeOnce(bytes);
    if (written < bytes.length) throw new FenceError('disk_full', {});
  } catch (error) {
    if (place.stats === undefined && before === 0) place.dir.unlink(place.name);
    else if (written > 0) file.truncate(before);
    throw error;
  }
}
