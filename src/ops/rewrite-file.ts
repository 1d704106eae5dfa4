import { isCode, RingfenceError } from '../errors.ts';
import type { CallerPath, Location, OpenFile, Root } from '../fence/index.ts';
import { located } from './located.ts';
import { replaceFile } from './replace-file.ts';

/** Rewriting happens in memory, so it has a bound; far beyond any file that people edit. */
const MAX_BYTES = 64 * 1024 * 1024;
const ATTEMPTS = 5;

export interface RewriteOptions<T> {
  readonly durable: boolean;
  /** Makes the new content of the old (undefined if there is no file). Throws to leave all as it is. May run again. */
  change(original: Buffer | undefined): { readonly content: Buffer; readonly result: T };
}

/**
 * Reads a file, changes it and puts it back whole, through links that stay inside. If somebody else changes the file
 * meanwhile, the change is made again to what is there now, so no edit is lost; `changed_meanwhile` if that never ends.
 * Folders above a new file are made only once the change has worked out.
 */
export async function rewriteFile<T>(root: Root, path: CallerPath, { durable, change }: RewriteOptions<T>): Promise<T> {
  return located(root, path, async () => {
    for (let left = ATTEMPTS; ; left -= 1) {
      const { before, original } = readCurrent(root, path);
      const { content, result } = change(original);
      using place = root.locate(path, { follow: true, makeParents: true });
      try {
        await replaceFile(place, content, { durable, over: before ?? 'nothing' });
        return result;
      } catch (error) {
        if (left === 1 || !isCode(error, 'changed_meanwhile', 'already_exists')) throw error;
      }
    }
  });
}

function readCurrent(root: Root, path: CallerPath) {
  using place = find(root, path);
  if (place?.stats === undefined) return { before: undefined, original: undefined };
  using file = place.dir.openFile(place.name);
  return { before: file.stats, original: readAll(file) };
}

function find(root: Root, path: CallerPath): Location | undefined {
  try {
    return root.locate(path, { follow: true });
  } catch (error) {
    if (isCode(error, 'not_found')) return undefined;
    throw error;
  }
}

function readAll(file: OpenFile): Buffer {
  const { size } = file.stats;
  if (size > MAX_BYTES) throw new RingfenceError('too_large', { size, limit: MAX_BYTES });
  const bytes = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const read = file.read(bytes.subarray(done), done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}
