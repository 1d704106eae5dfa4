import { codeGuard, RingfenceError } from '../errors.ts';
import type { Refusal } from './guard/guard.ts';

/**
 * What each code of a `FenceError` carries in `details`. `resolved` and `errno` can reveal something about the host:
 * they are for logs, not for whoever sent the path.
 */
export type FenceErrorDetails = {
  /** The path has a NUL, is not valid Unicode, or has a reserved name; or a link's target is not UTF-8. */
  invalid_path: { readonly problem: 'null_byte' | 'not_unicode' | 'reserved' };
  /** The path, or a link in it, leads out of the root. */
  outside_root: { readonly resolved?: string };
  /** The path has more than 40 links, or a circle of links. */
  link_loop: object;
  /** The entry, or a folder in its path, does not exist. */
  not_found: object;
  /** The entry to create already exists. */
  already_exists: object;
  /** A file was expected, and the entry is a folder. */
  is_directory: object;
  /** A folder was expected, at the end of the path or before, and the entry is something else. */
  not_directory: object;
  /** The entry is a FIFO, a socket or a device. */
  special_file: object;
  /** A name or the path is longer than the file system allows. */
  name_too_long: object;
  /**
   * The operator's rules for the root do not allow the change: the entry is denied or protected, or a folder holds one
   * that is. `pattern` is for logs.
   */
  not_allowed: Refusal;
  /** The operating system denies this process the access. */
  permission_denied: object;
  /** The disk or the quota is full, or the file would exceed the largest file size. */
  disk_full: object;
  /** The file system is mounted read-only. */
  read_only: object;
  /** The folder to remove or replace is not empty. */
  not_empty: object;
  /** The process has no descriptors or memory left. */
  exhausted: object;
  /**
   * Another process is changing the file or folder, and did not finish while this one waited. Nothing was changed; try
   * again.
   */
  busy: object;
  /** Any other system error; `errno` is its symbolic name. */
  io_error: { readonly errno?: string };
};

/** A code of a `FenceError`. */
export type FenceErrorCode = keyof FenceErrorDetails;

/**
 * What the file system, or the fence around it, refuses. `path` is the path as the caller wrote it and `root` the name
 * of the root; the message is the code alone, and the system error is the `cause`.
 */
export class FenceError<C extends FenceErrorCode = FenceErrorCode> extends RingfenceError<FenceErrorDetails, C> {}

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export const isFenceError = codeGuard<FenceErrorDetails>();
