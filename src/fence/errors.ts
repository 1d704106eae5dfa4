import { codeGuard, RingfenceError } from '../errors.ts';

/**
 * What each code of a `FenceError` carries in `details`. `resolved` and `errno` can reveal something about the host: they are for
 * logs, not for whoever sent the path.
 */
export type FenceErrorDetails = {
  /** The string cannot be a path at all, or names a file that the fence keeps for itself. */
  invalid_path: { readonly problem: 'null_byte' | 'not_unicode' | 'reserved' };
  /** The path, or a link on its way, leads out of the root. */
  outside_root: { readonly resolved?: string };
  /** Too many links, or a circle of them. */
  link_loop: object;
  /** There is no such entry. */
  not_found: object;
  /** Something is in the place of what was to be made. */
  already_exists: object;
  /** A folder where a file was expected. */
  is_directory: object;
  /** Something else where a folder was expected, also on the way to the last name. */
  not_directory: object;
  /** Neither a file, a folder nor a link: a FIFO, a socket, a device. */
  special_file: object;
  /** A name, or the whole path, is longer than the file system allows. */
  name_too_long: object;
  /** The operating system does not let this process do it. */
  permission_denied: object;
  /** No space left, the quota is used up, or the file would be larger than files may be. */
  disk_full: object;
  /** The file system is mounted read-only. */
  read_only: object;
  /** A folder that has to be empty is not. */
  not_empty: object;
  /** The process is out of descriptors or memory. */
  exhausted: object;
  /** Any other system error, with its symbolic name. */
  io_error: { readonly errno?: string };
};

/** A code of a `FenceError`. */
export type FenceErrorCode = keyof FenceErrorDetails;

/**
 * What the file system, or the fence around it, refuses. `path` is the path as the caller wrote it and `root` the name of the
 * root; the message is the code alone, and the system error is the `cause`.
 */
export class FenceError<C extends FenceErrorCode = FenceErrorCode> extends RingfenceError<FenceErrorDetails, C> {}

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export const isFenceError = codeGuard<FenceErrorDetails>();
