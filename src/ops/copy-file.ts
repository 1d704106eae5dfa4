import { RingfenceError } from '../errors.ts';
import type { OpenFile } from '../fence/index.ts';
import { type Control, pacer } from './control.ts';
import { keepOwner, type Place, replaceFile } from './replace-file.ts';

const BUFFER_BYTES = 1024 * 1024;

export interface CopyFileOptions {
  readonly durable: boolean;
  /** Replace a file that is in the way; otherwise `already_exists`. */
  readonly overwrite?: boolean;
  /** Also keep times, owner and all mode bits, as a move must. */
  readonly asMoved?: boolean;
}

/** Copies an open file to a place, whole or not at all, with its permission bits. Returns how many bytes it has. */
export async function copyFile(
  source: OpenFile,
  place: Place,
  { durable, overwrite = true, asMoved = false }: CopyFileOptions,
  control: Control,
): Promise<number> {
  const { stats } = source;
  if (place.stats !== undefined && place.stats.ino === stats.ino && place.stats.dev === stats.dev) {
    throw new RingfenceError('same_file', {});
  }
  let copied = 0;
  const fill = async (file: OpenFile) => {
    const pause = pacer(control);
    const buffer = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, stats.size + 1));
    for (let read = source.read(buffer, copied); read > 0; read = source.read(buffer, copied)) {
      file.write(buffer.subarray(0, read));
      copied += read;
      control.progress(copied, stats.size);
      await pause();
    }
    if (asMoved) {
      keepOwner(file, stats);
      file.chmod(stats.mode & 0o7777);
      file.setTimes(stats.atime, stats.mtime);
    }
  };
  await replaceFile(place, fill, { durable, over: overwrite ? 'anything' : 'nothing', mode: stats.mode & 0o777 });
  return copied;
}
