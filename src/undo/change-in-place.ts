import type { Stats } from 'node:fs';
import type { Dir, Name, OpenFile } from '../fence/index.ts';
import type { DirEntry, History } from '../history/index.ts';
import { openDespiteMode } from './open-despite-mode.ts';
import type { UndoAction } from './plan/undo-plan.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Cuts off what was appended to a file. What is cut off has to be kept before. */
export function cutFile(action: UndoAction, { dir, name }: DirEntry): void {
  {
    using file = openDespiteMode(dir, name, () => dir.openForUpdate(name));
    file.truncate(action.after?.size ?? 0);
    restoreMode(action, file.stat(), (mode) => file.chmod(mode));
  }
  setPlannedMtime(action, dir, name);
}

/** Puts back what was cut off the end of a file. After a failure, the file is as before. */
export function extendFile(action: UndoAction, { dir, name }: DirEntry, { kept }: History): void {
  using place = kept.open(action.from ?? '');
  using tail = place.dir.openFile(place.name);
  {
    using file = openDespiteMode(dir, name, () => dir.openForAppend(name));
    const mtimeNs = file.mtimeNs();
    try {
      copyTail(tail, 0, file);
    } catch (error) {
      file.truncate(file.stats.size);
      dir.setMtime(name, mtimeNs);
      throw error;
    }
    restoreMode(action, file.stat(), (mode) => file.chmod(mode));
  }
  setPlannedMtime(action, dir, name);
}

/** Copies a file from an offset on, up to another one, to the end of another file. */
export function copyTail(from: OpenFile, start: number, to: OpenFile, end = Number.POSITIVE_INFINITY): void {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, Math.min(end, from.size) - start)));
  for (let at = start; at < end; ) {
    const read = from.read(chunk.subarray(0, Math.min(chunk.length, end - at)), at);
    if (read === 0) return;
    to.writeAll(chunk.subarray(0, read));
    at += read;
  }
}

/** Writing to a file may clear its set-user-ID and set-group-ID bits. */
function restoreMode({ after }: UndoAction, now: Stats, chmod: (mode: number) => void): void {
  if (after !== undefined && (now.mode & 0o7777) !== after.mode) chmod(after.mode);
}

function setPlannedMtime({ undoes }: UndoAction, dir: Dir, name: Name): void {
  if (undoes.mtimeNs !== undefined) dir.setMtime(name, BigInt(undoes.mtimeNs));
}
