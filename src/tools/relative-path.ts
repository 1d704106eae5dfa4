import path from 'node:path';
import { RingfenceError } from '../errors.ts';
import { type CallerPath, FenceError, type Root, toForwardSlashes } from '../fence/index.ts';

const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/;

/** Reports whether a path is absolute on any system: it starts with a slash, a backslash or a drive such as `C:/`. */
export function isAbsolute(raw: string): boolean {
  return ABSOLUTE.test(raw);
}

/**
 * Parses a path that must be relative to the root. `\` separates like `/`, so that a path means the same on every
 * system. Raises `outside_root` for an absolute path or one that climbs above the root, and `invalid_path`.
 */
export function parseRelativePath(root: Root, raw: string): CallerPath {
  if (isAbsolute(raw)) throw outsideRootError(root, raw);
  return parseRelativePart(root, raw, raw);
}

/**
 * Parses `relative`, the part of the caller's path `raw` that is relative to the root, for dialects whose paths have a
 * fixed prefix. The result and every error name `raw`. Raises `outside_root` and `invalid_path`.
 */
export function parseRelativePart(root: Root, raw: string, relative: string): CallerPath {
  try {
    return { raw, segments: root.parse(toForwardSlashes(relative)).segments };
  } catch (error) {
    if (error instanceof RingfenceError) error.path = raw;
    throw error;
  }
}

/**
 * Creates the `outside_root` error for a path. For an absolute path, its details hold the normalised path for the log.
 */
export function outsideRootError(root: Root, raw: string): FenceError<'outside_root'> {
  const details = isAbsolute(raw) ? { resolved: path.posix.normalize(toForwardSlashes(raw)) } : {};
  return new FenceError('outside_root', details, { path: raw, root: root.name });
}
