import { RingfenceError } from '../../errors.ts';
import { type CallerPath, parseCallerPath, type Root } from '../../fence/index.ts';

const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/;

/** Whether a path starts at the top of some system rather than of the root. */
export function isAbsolute(raw: string): boolean {
  return ABSOLUTE.test(raw);
}

/**
 * A path of a call. Absolute ones are `outside_root`, in the spelling of any system. A backslash separates names as a
 * slash does, unless there is an entry with just that name, so that whatever a listing shows can be named.
 */
export function pathIn(root: Root, raw: string): CallerPath {
  if (raw.includes('\\') && isThere(root, raw)) return parseCallerPath(raw);
  if (isAbsolute(raw)) throw new RingfenceError('outside_root', {}, { path: raw, root: root.name });
  return { raw, segments: parseCallerPath(raw.replaceAll('\\', '/')).segments };
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
    using found = root.locate(parseCallerPath(raw), { follow: false });
    return found.stats !== undefined;
  } catch (error) {
    if (error instanceof RingfenceError) return false;
    throw error;
  }
}
