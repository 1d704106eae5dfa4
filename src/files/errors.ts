import { codeGuard, RingfenceError } from '../errors.ts';

/** The details that each code of a `FileError` carries, in addition to the path and root of every error. */
export type FileErrorDetails = {
  /** The root itself cannot be moved or removed. */
  root_itself: { readonly action: string };
  /** Source and destination are the same file. */
  same_file: object;
  /** A folder cannot be copied or moved into itself. */
  into_itself: object;
  /** The file is larger than the limit; both sizes are in bytes. */
  too_large: { readonly size: number; readonly limit: number };
  /** The file is not valid UTF-8. */
  not_text: object;
  /** An argument is not valid in its encoding. */
  invalid_encoding: { readonly argument: string };
  /** The text to replace does not occur in the file; `explanation` shows what is most like it. `edit` counts from 1. */
  text_not_found: { readonly edit?: number; readonly explanation?: string };
  /** The text to replace occurs `count` times, on these lines. `edit` counts from 1. */
  text_not_unique: { readonly count: number; readonly lines: readonly number[]; readonly edit?: number };
  /** The file has no such line; `max` is the largest valid number. */
  line_out_of_range: { readonly line: number; readonly max: number };
  /** A unified diff is malformed or does not match; `hunk` and `line` (of the file) count from 1. */
  patch_failed: { readonly problem: string; readonly hunk?: number; readonly line?: number };
  /** Another process or call changed the file while the operation ran. */
  changed_meanwhile: object;
  /**
   * The servers that share the file cannot agree on who changes it, because what they agree by cannot be reached. Nothing
   * was changed.
   */
  coordination_unavailable: object;
  /** Another server has taken over the right to change the file. Nothing was changed; try again. */
  lease_lost: object;
  /**
   * A move has made a complete copy at `destination` but could not remove the source, nor undo the copy. What is left
   * of the source is at `left`.
   */
  move_incomplete: { readonly destination: string; readonly destinationRoot: string; readonly left: string };
  /** The file is not the one that the caller expects; `now` is what is there, undefined if nothing is. */
  version_mismatch: {
    readonly expected: string;
    readonly now:
      | { readonly version: string; readonly size: number; readonly mtimeMs: number; readonly isLink: boolean }
      | undefined;
  };
};

/** The closed list of codes that an operation on files raises, besides those of the fence. */
export type FileErrorCode = keyof FileErrorDetails;

/** An expected failure of an operation on files, for a reason that is not an error of the file system. */
export class FileError<C extends FileErrorCode = FileErrorCode> extends RingfenceError<FileErrorDetails, C> {}

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export const isFileError = codeGuard<FileErrorDetails>();
