import { RingfenceError } from '../../errors.ts';
import type { CallerPath, Root, RootPath } from '../../fence/index.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import type { BoundRootContext } from '../../tools/tool.ts';

/**
 * Parses a path argument. A backslash separates names like a slash, unless an entry with that literal name exists, so
 * that every path in a listing can be used. Raises `outside_root` for an absolute path of any system or one that climbs
 * above the root, and `invalid_path`.
 */
export function parsePath(root: Root, raw: string): CallerPath {
  return raw.includes('\\') && exists(root, raw) ? root.parse(raw) : parseRelativePath(root, raw);
}

/** Returns the root of the dialect and a path in it. Raises `tool_not_allowed` and what `parsePath` raises. */
export function targetOf(raw: string, context: BoundRootContext): RootPath {
  const root = context.boundRoot();
  return { root, path: parsePath(root, raw) };
}

/** Formats a path for results: relative to the root, `.` for the root itself. */
export function formatPath({ segments }: CallerPath): string {
  return segments.join('/') || '.';
}

/** Whether a name starts with a dot. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.';
}

function exists(root: Root, raw: string): boolean {
  if (raw.startsWith('/')) return false;
  try {
    using found = root.locate(root.parse(raw), { follow: false });
    return found.stats !== undefined;
  } catch (error) {
    if (error instanceof RingfenceError) return false;
    throw error;
  }
}
