import type { RootPath } from '../../fence/index.ts';
import type { CallContext } from '../../tools/tool.ts';

/**
 * Returns the local root and the path that a call names. Raises `unknown_root`, `tool_not_allowed`, `outside_root` and
 * `invalid_path`.
 */
export function targetOf({ root, path }: { root: string; path: string }, context: CallContext): RootPath {
  const found = context.root(root);
  return { root: found, path: found.parse(path) };
}
