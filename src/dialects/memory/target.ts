import type { RootPath } from '../../fence/index.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import type { BoundRootContext } from '../../tools/tool.ts';

/** Returns the root of the dialect and a path in it. Raises `tool_not_allowed`, `outside_root` and `invalid_path`. */
export function targetOf(path: string, context: BoundRootContext): RootPath {
  const root = context.boundRoot();
  return { root, path: parseRelativePath(root, path) };
}
