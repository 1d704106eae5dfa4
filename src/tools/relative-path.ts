import path from 'node:path';
import { RingfenceError } from '../errors.ts';
import { type CallerPath, FenceError, type Root, toForwardSlashes } from '../fence/index.ts';

const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/;

/** Whether a path starts at the top of some system, in the spelling of any of them, rather than of a root. */
export function isAbsolute(raw: string): boolean {
  return ABSOLUTE.test(raw);
}

/**
 * A path where `\` separates like `/`, so that it means the same on every system, and where an absolute one is
 * `outside_root`: there is no top to mean but that of the machine. Also raises `invalid_path`.
 */
export function parseRelativePath(root: Root, raw: string): CallerPath {
  if (isAbsolute(raw)) throw outsideRootError(root, raw);
  return parseBelow(root, raw, raw);
}

/** The same for a path of which only `below` is meant from the root. What is raised names all of it. */
export function parseBelow(root: Root, raw: string, below: string): CallerPath {
  try {
    return { raw, segments: root.parse(toForwardSlashes(below)).segments };
  } catch (error) {
    if (error instanceof RingfenceError) error.path = raw;
    throw error;
  }
}

/** The refusal of a path that does not start at the root. */
export function outsideRootError(root: Root, raw: string): FenceError<'outside_root'> {
  const details = isAbsolute(raw) ? { resolved: path.posix.normalize(toForwardSlashes(raw)) } : {};
  return new FenceError('outside_root', details, { path: raw, root: root.name });
}
