import { isFenceError } from '../../fence/index.ts';

/** Reports whether a search skips a folder or file that raises this error. Any other error ends the search. */
export function isSkippable(error: unknown): boolean {
  return isFenceError(
    error,
    'not_found',
    'not_directory',
    'is_directory',
    'permission_denied',
    'link_loop',
    'special_file',
    'outside_root',
    'name_too_long',
    'io_error',
  );
}
