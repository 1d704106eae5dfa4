import { type CallerPath, type OpenFile, type Root, withLocationSync } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import { isSameFile } from '../same-file.ts';
import { copyOwner, type ReplaceTarget, replaceFile } from '../write/replace-file.ts';

const BUFFER_BYTES = 1024 * 1024;

/** An open file, and where it was found, for errors. */
export interface FileSource {
  readonly file: OpenFile;
  readonly root: Root;
  readonly path: Pick<CallerPath, 'raw'>;
}

export interface CopyFileOptions {
  /** Wait until the disk has it, which is the default. */
  readonly durable?: boolean;
  /** Replace a file that is in the way; otherwise `already_exists`. */
  readonly overwrite?: boolean;
  /** Also keep times, owner and all mode bits, as a move must. */
  readonly asMoved?: boolean;
}

/**
 * Copies an open file to a place, whole or not at all, with its permission bits. Returns how many bytes it has.
 * A failed read names the source; whatever else fails is about the place, which is for the caller to name.
 */
export async function copyFile(
  { file: source, root, path }: FileSource,
  place: ReplaceTarget,
  { durable = true, overwrite = true, asMoved = false }: CopyFileOptions,
  context: OperationContext,
): Promise<number> {
  const { stats } = source;
  if (isSameFile(place.stats, stats)) throw new FileError('same_file', {});
  let copied = 0;
  const fill = async (file: OpenFile) => {
    const pause = yieldPoint(context);
    const buffer = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, stats.size + 1));
    const read = () => withLocationSync(root, path, () => source.read(buffer, copied));
    for (let bytes = read(); bytes > 0; bytes = read()) {
      file.writeAll(buffer.subarray(0, bytes));
      copied += bytes;
      context.progress?.(copied, stats.size);
      await pause();
    }
    if (asMoved) {
      const kept = copyOwner(file, stats);
      file.chmod(stats.mode & (kept ? 0o7777 : 0o777));
      file.utimes(stats.atime, stats.mtime);
    }
  };
  await replaceFile(place, fill, { durable, over: overwrite ? 'anything' : 'nothing', mode: stats.mode & 0o777 });
  return copied;
}
