import { type CallerPath, type OpenFile, type Root, withLocationSync } from '../../fence/index.ts';
import type { Change } from '../../history/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import { copyOwner, isSameFile, type ReplaceOptions, type ReplaceTarget, replaceFile } from '../write/replace-file.ts';

const BUFFER_BYTES = 1024 * 1024;

/** An open file to copy, with its root and path for error messages. */
export interface FileSource {
  readonly file: OpenFile;
  readonly root: Root;
  readonly path: Pick<CallerPath, 'raw'>;
}

/** Options of `copyFile`. */
export interface CopyFileOptions extends Pick<ReplaceOptions, 'lease' | 'onLanded'> {
  /** Flush to disk before returning (the default); `content` leaves it to the caller to flush the folder. */
  readonly durable?: boolean | 'content';
  /** Replace an existing file (the default); otherwise it is `already_exists`. */
  readonly overwrite?: boolean;
  /** Replace only a destination of this version: see `expectedVersion`. */
  readonly expected?: string | undefined;
  /** The change in the root's history that keeps what is replaced; undefined if nothing is kept. */
  readonly change?: Change | undefined;
  /** Also preserve times, owner and all mode bits, as a move does. */
  readonly asMoved?: boolean;
}

/**
 * Copies an open file to a destination, atomically and with its permission bits, and returns the number of bytes
 * copied. A source that changes meanwhile is copied as read.
 *
 * Raises `same_file`, what `replaceFile` raises, and the reason of an aborted signal. A failed read carries the path of
 * the source; the caller must add the path of the destination to all other errors.
 */
export async function copyFile(
  { file: source, root, path }: FileSource,
  target: ReplaceTarget,
  { overwrite = true, asMoved = false, ...replacing }: CopyFileOptions,
  context: OperationContext,
): Promise<number> {
  const { stats } = source;
  if (isSameFile(target.stats, stats)) throw new FileError('same_file', {});
  let copied = 0;
  const fill = async (file: OpenFile) => {
    copied = 0;
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
  const over = overwrite ? 'anything' : 'nothing';
  await replaceFile(target, fill, { ...replacing, over, keepTimes: asMoved, mode: stats.mode & 0o777 });
  return copied;
}
