import { RingfenceError } from '../../errors.ts';
import type { CallerPath, Root } from '../../fence/index.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';

/**
 * A path of a call. Absolute ones are `outside_root`, in the spelling of any system. A backslash separates names as a
 * slash does, unless there is an entry with just that name, so that whatever a listing shows can be named.
 */
export function pathIn(root: Root, raw: string): CallerPath {
  return raw.includes('\\') && isThere(root, raw) ? root.parse(raw) : parseRelativePath(root, raw);
}

/** How a path is shown in results: relative to the root, `.` for the root itself. */
export function shown({ segments }: CallerPath): string {
  return segments.join('/') || '.';
}

export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.';
}

function isThere(root: Root, raw: string): boolean {
  if (raw.startsWith('/')) return false;
  try {
    using found = root.locate(root.parse(raw), { follow: false });
    return found.stats !== undefined;
  } catch (error) {
    if (error instanceof RingfenceError) return false;
    throw error;
  }
}
