import { isFenceError, type Root } from '../fence/index.ts';
import { isFileError } from '../files/errors.ts';
import { versionOf } from '../files/version.ts';
import { writeFile } from '../files/write/write-file.ts';
import { type Caller, DEFAULT_CONTEXT } from '../runtime/operation-context.ts';
import { type Hunk, type TextPair, withoutHunks } from './hunks.ts';
import { joinLines, splitLines } from './lines.ts';
import { mergeLines } from './merge-lines.ts';

/** Hunks of a file that are to be taken back. */
export interface HunksToTakeBack {
  /** From the top of the root. */
  readonly path: string;
  /** What was compared when the hunks were shown. */
  readonly texts: TextPair;
  readonly hunks: readonly Hunk[];
}

/** How to take hunks back. */
export interface TakeBackOptions {
  readonly caller: Caller;
  readonly durable: boolean;
}

/** Whether hunks were taken back, or why not. */
export type TakenBack =
  | { readonly done: true }
  /** Lines of the shown text, counted from 1, that were changed since, where hunks would have to be taken back. */
  | { readonly done: false; readonly conflicts: readonly number[] }
  /** The file is no longer there, or keeps being changed. */
  | { readonly done: false; readonly why: 'gone' | 'busy' };

/** How often it is tried with a file that others keep changing. */
const MAX_ATTEMPTS = 5;

/**
 * Takes hunks of a file back: merges the text without them with what the file is by now, and writes that. What was
 * changed elsewhere in the file since it was shown stays. The root must have a history, in which this is a change.
 */
export async function takeBackHunks(
  root: Root,
  { path, texts, hunks }: HunksToTakeBack,
  { caller, durable }: TakeBackOptions,
): Promise<TakenBack> {
  const at = root.parse(path);
  const wanted = withoutHunks(texts, hunks);
  for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
    const now = readNow(root, path);
    if (now === undefined) return { done: false, why: 'gone' };
    const merged = mergeLines(texts.after, splitLines(now.bytes), wanted);
    if ('conflicts' in merged) return { done: false, conflicts: merged.conflicts };
    try {
      const options = { ifMatch: now.version, durable, makeParents: false };
      await writeFile(root, at, joinLines(merged.lines), options, { ...DEFAULT_CONTEXT, caller });
      return { done: true };
    } catch (error) {
      if (!isFileError(error, 'version_mismatch')) throw error;
    }
  }
  return { done: false, why: 'busy' };
}

function readNow(root: Root, path: string): { readonly bytes: Buffer; readonly version: string } | undefined {
  try {
    using file = root.openFile(root.parse(path));
    const bytes = Buffer.allocUnsafe(file.size);
    return { bytes: bytes.subarray(0, file.read(bytes, 0)), version: versionOf(file.stats) };
  } catch (error) {
    if (isFenceError(error, 'not_found', 'is_directory', 'special_file')) return undefined;
    throw error;
  }
}
