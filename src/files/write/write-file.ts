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

export const WRITE_MODES = ['overwrite', 'append', 'create_only'] as const;
export type WriteMode = (typeof WRITE_MODES)[number];

export interface WriteOptions {
  /** By default `overwrite`. */
  readonly mode?: WriteMode;
  /** Wait until the disk has it, which is the default. */
  readonly durable?: boolean;
  /** Make missing folders above the file. */
  readonly makeParents?: boolean;
}

/**
 * Writes a file through links that stay inside. Overwriting and creating are whole or not at all; `create_only` is
 * `already_exists` for anything in the way, a dangling link too. An append that falls short is taken back.
 * Returns what the file is then.
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

/** Nothing may be made where a link is, and a link that leads outside is a violation rather than a file in the way. */
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
