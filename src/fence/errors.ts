import { codeGuard, RingfenceError } from '../errors.ts';

/**
 * What each code of a `FenceError` carries. `resolved` and `errno` may tell about the host: they are for logs, not for whoever
 * sent the path.
 */
export type FenceErrorDetails = {
  /** The string cannot be a path at all, or names a file that the fence keeps for itself. */
  invalid_path: { readonly problem: 'null_byte' | 'not_unicode' | 'reserved' };
  /** The path, or a link on its way, leads out of the root. */
  outside_root: { readonly resolved?: string };
  /** Too many links, or a circle of them. */
  link_loop: object;
  not_found: object;
  already_exists: object;
  is_directory: object;
  not_directory: object;
  /** Neither a file, a folder nor a link: a FIFO, a socket, a device. */
  special_file: object;
  name_too_long: object;
  permission_denied: object;
  disk_full: object;
  /** The file system is mounted read-only. */
  read_only: object;
  not_empty: object;
  /** The process is out of descriptors or memory. */
  exhausted: object;
  /** Any other system error. */
  io_error: { readonly errno?: string };
};

export type FenceErrorCode = keyof FenceErrorDetails;

/** What the file system, or the fence around it, refuses. */
export class FenceError<C extends FenceErrorCode = FenceErrorCode> extends RingfenceError<FenceErrorDetails, C> {}

export const isFenceError = codeGuard<FenceErrorDetails>();
