import type { Dir, Root } from '../../fence/index.ts';
import { textToName } from '../../history/index.ts';
import { namesOf } from './past-tree.ts';

/** Opens a folder by its path from the top of a root, without following links. Raises `not_directory` for one. */
export function openFolder(root: Root, path: string): Dir {
  let dir = root.top;
  for (const name of namesOf(path)) {
    using above = dir;
    dir = above.openDir(textToName(name));
  }
  return dir;
}
