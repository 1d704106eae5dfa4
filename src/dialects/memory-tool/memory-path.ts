import type { CallerPath, Root } from '../../fence/index.ts';
import { outsideRootError, parseBelow } from '../../tools/relative-path.ts';

/** The folder that the model believes all its files are in. */
export const MEMORY_ROOT = '/memories';

/**
 * A path under `/memories`, which is our root. Anything else, also by way of `..`, is `outside_root`. `\` separates
 * like `/`: models on any system may write it, and a name with one in it would be a way around a check elsewhere.
 */
export function memoryPathIn(root: Root, raw: string): CallerPath {
  if (!startsInRoot(raw)) throw outsideRootError(root, raw);
  return parseBelow(root, raw, raw.slice(MEMORY_ROOT.length));
}

/** True for `/memories` and what is written below it; not for `/memoriesX`. */
export function startsInRoot(raw: string): boolean {
  return raw === MEMORY_ROOT || raw.startsWith(`${MEMORY_ROOT}/`) || raw.startsWith(`${MEMORY_ROOT}\\`);
}
