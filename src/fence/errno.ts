import os from 'node:os';
import { type ErrorCode, RingfenceError } from '../errors.ts';

type PlainCode =
  | 'not_found'
  | 'already_exists'
  | 'is_directory'
  | 'not_directory'
  | 'permission_denied'
  | 'disk_full'
  | 'read_only'
  | 'not_empty'
  | 'link_loop'
  | 'name_too_long'
  | 'exhausted'
  | 'special_file';

const CODES: Readonly<Record<string, PlainCode>> = {
  ENOENT: 'not_found',
  EEXIST: 'already_exists',
  EISDIR: 'is_directory',
  ENOTDIR: 'not_directory',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EROFS: 'read_only',
  ENOTEMPTY: 'not_empty',
  ELOOP: 'link_loop',
  ENAMETOOLONG: 'name_too_long',
  EMFILE: 'exhausted',
  ENFILE: 'exhausted',
  ENOMEM: 'exhausted',
  ENXIO: 'special_file',
};

/** Where two names share a number (EAGAIN, EWOULDBLOCK), the first is the one that Node uses. */
const NAMES = new Map(
  Object.entries(os.constants.errno)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** The symbolic name of the number that a system call failed with. */
export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `E${errno}`;
}

/** The symbolic name of a system error (`ENOENT`), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return code;
  // Node knows no name for some, such as EDQUOT and ESTALE; its code is a sentence then.
  return code?.startsWith('Unknown system error') && errno !== undefined ? errnoName(-errno) : undefined;
}

/** Turns a system error into ours; anything that is not one passes through unchanged. */
export function fromSystem(error: unknown, path?: string, root?: string): unknown {
  if (error instanceof RingfenceError) return error.locate(path, root);
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const code: ErrorCode | undefined = CODES[errno];
  if (code !== undefined) return new RingfenceError(code, {}, { path, root, cause: error });
  return new RingfenceError('io_error', { errno }, { path, root, cause: error });
}
