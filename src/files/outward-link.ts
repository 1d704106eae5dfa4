import { type CallerPath, isFenceError, type Root } from '../fence/index.ts';

/** Raises `outside_root` if a path ends in a link that leads outside, wherever it dangles. For what acts on links themselves. */
export function refuseOutwardLink(root: Root, path: CallerPath): void {
  try {
    root.locate(path, { follow: true })[Symbol.dispose]();
  } catch (error) {
    if (!isFenceError(error, 'not_found', 'not_directory', 'link_loop')) throw error;
  }
}
