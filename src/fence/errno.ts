import os from 'node:os';
import { RingfenceError } from '../errors.ts';
import type { CallerPath } from './caller-path.ts';
import { FenceError } from './errors.ts';

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

/**
 * Error names by number. Reversed so that of two names for one number (EAGAIN, EWOULDBLOCK) the first one stays, which
 * is the one Node uses.
 */
const NAMES = new Map(
  Object.entries(os.constants.errno)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** Returns the symbolic name of an error number: `ENOENT` for 2. */
export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `E${errno}`;
}

/** Returns the symbolic name of a system error (`ENOENT`), or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return code;
  // For numbers that Node has no name for, such as EDQUOT and ESTALE, its code is a sentence.
  return code?.startsWith('Unknown system error') && errno !== undefined ? errnoName(-errno) : undefined;
}

/**
 * Turns a system error into a `FenceError` and adds path and root. Errors of other kinds are returned unchanged. Of a
 * failure during which a descriptor could not be closed either, the failure itself counts.
 */
export function fromSystem(error: unknown, path?: string, root?: string): unknown {
  if (error instanceof RingfenceError) return error.addLocation(path, root);
  if (isSuppressedError(error)) return fromSystem(error.suppressed, path, root);
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const code = CODES[errno];
  if (code !== undefined) return new FenceError(code, {}, { path, root, cause: error });
  return new FenceError('io_error', { errno }, { path, root, cause: error });
}

/**
 * Reports whether an error holds two: that of a `using` block, and that of disposing of what it used. Network file
 * systems fail to close a file that was replaced on another machine (`ESTALE`). The class is not in Node 20, where the
 * compiled code has a stand-in of the same name.
 */
function isSuppressedError(error: unknown): error is Error & { readonly suppressed: unknown } {
  return error instanceof Error && error.name === 'SuppressedError' && 'suppressed' in error;
}

/**
 * What network file systems answer for a moment, while a file is replaced on another machine or one of their servers
 * goes away.
 */
const TRANSIENT: ReadonlySet<string> = new Set([
  'ESTALE',
  'EIO',
  'ENOTCONN',
  'ETIMEDOUT',
  'EREMOTEIO',
  'EHOSTDOWN',
  'ECONNABORTED',
  'ECONNRESET',
  'EAGAIN',
  'EINTR',
]);

/** Reports whether the same call may well succeed a moment later, on a file system that others share. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof FenceError)) return false;
  const { code, details } = error as FenceError<'io_error'>;
  return code === 'io_error' && details.errno !== undefined && TRANSIENT.has(details.errno);
}

/** Runs work on a path, and adds that path and root to an error that does not say yet where it happened. */
export async function withLocation<T>(
  root: { readonly name: string },
  path: Pick<CallerPath, 'raw'>,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}

/** Runs synchronous work on a path, and adds that path and root to an error that does not say yet where it happened. */
export function withLocationSync<T>(root: { readonly name: string }, path: Pick<CallerPath, 'raw'>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}
