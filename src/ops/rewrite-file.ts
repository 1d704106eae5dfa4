import { isCode, RingfenceError } from '../errors.ts';
import type { CallerPath, Location, OpenFile, Root } from '../fence/index.ts';
import { located } from './located.ts';
import { replaceFile } from './replace-file.ts';

/** Rewriting happens in memory, so it has a bound; far beyond any file that people edit. */
const MAX_BYTES = 64 * 1024 * 1024;
const ATTEMPTS = 20;
/** Between attempts, at most: two processes that edit in step would meet again and again. */
const PAUSE_MS = 20;

export interface RewriteOptions<T> {
  readonly durable: boolean;
  /** Makes the new content of the old (undefined if there is no file). Throws to leave all as it is. May run again. */
  change(original: Buffer | undefined): { readonly content: Buffer; readonly result: T };
}

/**
 * Reads a file, changes it and puts it back whole, through links that stay inside. Rewrites of one file take turns; if
 * somebody else changes it meanwhile, the change is made again to what is there now, so no edit is lost;
 * `changed_meanwhile` if that never ends.
 * Folders above a new file are made only once the change has worked out.
 */
export async function rewriteFile<T>(root: Root, path: CallerPath, { durable, change }: RewriteOptions<T>): Promise<T> {
  const rewrite = async (): Promise<T> => {
    for (let left = ATTEMPTS; ; left -= 1) {
      // Held open until the new file is in place: a closed one's inode number may come back as another file's.
      using current = openCurrent(root, path);
      const { content, result } = change(current && readAll(current));
      using place = root.locate(path, { follow: true, makeParents: true });
      try {
        await replaceFile(place, content, { durable, over: current?.stats ?? 'nothing' });
        return result;
      } catch (error) {
        if (left === 1 || !isCode(error, 'changed_meanwhile', 'already_exists')) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
  };
  return located(root, path, () => root.inTurn(path, rewrite));
}

function openCurrent(root: Root, path: CallerPath): OpenFile | undefined {
  using place = find(root, path);
  return place?.stats && place.dir.openFile(place.name);
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
