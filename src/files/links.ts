import { type CallerPath, isFenceError, type Root } from '../fence/index.ts';

/** The codes that following a link raises because of the link's own target. */
const BROKEN_LINK_CODES = [
  'link_loop',
  'not_found',
  'not_directory',
  'permission_denied',
  'name_too_long',
  'invalid_path',
] as const;

/**
 * Reports whether following a link failed because of the link's target: missing, unreachable, too long, or in a loop.
 * Such a failure concerns that link alone, so a listing or a copy can go on with the next entry. `outside_root` is not
 * among these codes.
 */
export function isBrokenLinkError(error: unknown): boolean {
  return isFenceError(error, ...BROKEN_LINK_CODES);
}

/**
 * Raises `outside_root` if the path, with all links followed, leads outside the root, even to a missing file.
 * Operations that act on a link itself (move, remove) call it to refuse such links. A missing path or a link loop
 * passes.
 */
export function refuseOutwardLink(root: Root, path: CallerPath): void {
  try {
    root.locate(path, { follow: true })[Symbol.dispose]();
  } catch (error) {
    if (!isFenceError(error, 'not_found', 'not_directory', 'link_loop')) throw error;
  }
}
