import type { CallerPath, Root } from '../../fence/index.ts';
import { outsideRootError, parseRelativePart } from '../../tools/relative-path.ts';

/** The path that the model sees as the top of its memory. */
export const MEMORY_ROOT = '/memories';

/**
 * Parses a path below `/memories`, which stands for the root. `\` separates like `/`, because a model may write either,
 * and a name that contains a backslash could bypass path checks of other programs. Raises `outside_root` for any other
 * path, and `invalid_path`.
 */
export function parseMemoryPath(root: Root, raw: string): CallerPath {
  if (!isBelowMemoryRoot(raw)) throw outsideRootError(root, raw);
  return parseRelativePart(root, raw, raw.slice(MEMORY_ROOT.length));
}

/** Whether a path is `/memories` or starts with `/memories/`. Does not resolve `..`. */
export function isBelowMemoryRoot(raw: string): boolean {
  return raw === MEMORY_ROOT || raw.startsWith(`${MEMORY_ROOT}/`) || raw.startsWith(`${MEMORY_ROOT}\\`);
}
