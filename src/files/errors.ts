import { codeGuard, RingfenceError } from '../errors.ts';

/** What each code of a `FileError` carries, beyond the path and root that any error has. */
export type FileErrorDetails = {
  /** The root itself cannot be moved or removed. */
  root_itself: { readonly action: string };
  same_file: object;
  /** A folder cannot be put inside itself. */
  into_itself: object;
  too_large: { readonly size: number; readonly limit: number };
  /** The file is not UTF-8. */
  not_text: object;
  /** An argument does not fit its encoding. */
  invalid_encoding: { readonly argument: string };
  text_not_found: object;
  text_not_unique: { readonly count: number; readonly lines: readonly number[] };
  line_out_of_range: { readonly line: number; readonly max: number };
  patch_failed: { readonly problem: string; readonly hunk?: number; readonly line?: number };
  /** Somebody else changed the file while the operation ran. */
  changed_meanwhile: object;
};

export type FileErrorCode = keyof FileErrorDetails;

/** What an operation refuses although the file system would not. */
export class FileError<C extends FileErrorCode = FileErrorCode> extends RingfenceError<FileErrorDetails, C> {}

export const isFileError = codeGuard<FileErrorDetails>();
