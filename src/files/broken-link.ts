import { isFenceError } from '../fence/index.ts';

const CODES = [
  'link_loop',
  'not_found',
  'not_directory',
  'permission_denied',
  'name_too_long',
  'invalid_path',
] as const;

/** Whether following a link failed because of where it leads, which says nothing about its neighbours. */
export function isBrokenLinkError(error: unknown): boolean {
  return isFenceError(error, ...CODES);
}
