import { isFenceError, parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import type { Violation } from '../agent-error.ts';
import { BridgeError, SecurityError } from '../bridge-error.ts';

/**
 * Control characters are refused in paths: they would break up a prompt or a log line, and NUL truncates names in C
 * APIs.
 */
const CONTROL = /\p{Cc}/u;
/** PATH_MAX on Linux, https://man7.org/linux/man-pages/man0/limits.h.0p.html */
const MAX_LENGTH = 4096;

/** Matches absolute paths of any system: a leading slash, a drive, a network share, a home folder, a URL. */
const ABSOLUTE = /^(?:\/|[a-z]:|~\w*(?:\/|$)|[a-z][a-z0-9+.-]*:\/\/|file:)/i;
const NETWORK = /^\/\//;
/** Matches a first segment that is absolute once `..` is resolved: `x/../C:/y` becomes `C:/y`. */
const NOT_RELATIVE = /^(?:[a-z]:|~\w*$|file:)/i;
/** Windows drops trailing dots and spaces from names, which turns names such as `.. .` into `..`. */
const DOTS_AND_SPACES = /^\.[. ]+$/;

/** The project that a path belongs to. */
interface Project {
  readonly projectRoot: string;
  /** The allowed paths, for error messages. */
  readonly allowed?: readonly string[];
}

/** Returns what makes a string unusable as a path, or undefined if it is well-formed. Does not check any policy. */
export function pathProblem(raw: string): string | undefined {
  if (CONTROL.test(raw)) return 'must not contain control characters or NUL';
  if (!raw.isWellFormed()) return 'must be valid Unicode';
  return raw.length > MAX_LENGTH ? `must not be longer than ${MAX_LENGTH} characters` : undefined;
}

/**
 * Splits a path into segments below the project root; the root itself has none. `\` separates like `/`, so that a path
 * means the same to agents on any system. `..` removes the segment before it. Percent-encoding is not decoded. An
 * absolute path is accepted if it starts with the project root. Does not follow links. Raises `path_not_allowed` as a
 * `SecurityError`, and `name_too_long`.
 */
export function projectSegments(raw: string, { projectRoot, allowed = [] }: Project): readonly string[] {
  const refuse = (violation: Violation) => new SecurityError(violation, raw, allowed);
  if (CONTROL.test(raw) || !raw.isWellFormed()) throw refuse('characters');
  if (raw.length > MAX_LENGTH) throw new BridgeError('name_too_long', {}, { path: raw });
  const path = toForwardSlashes(raw);
  const below = ABSOLUTE.test(path) ? belowRoot(path, toForwardSlashes(projectRoot)) : path;
  if (below === undefined) throw refuse('absolute');
  const segments = parse(below, refuse);
  if (NOT_RELATIVE.test(segments[0] ?? '')) throw refuse('absolute');
  if (segments.some((name) => DOTS_AND_SPACES.test(name))) throw refuse('traversal');
  return segments;
}

function parse(path: string, refuse: (violation: Violation) => SecurityError): readonly string[] {
  try {
    return parseCallerPath(path).segments;
  } catch (error) {
    if (isFenceError(error, 'outside_root')) throw refuse('traversal');
    // The name is reserved for this program's temporary files.
    if (isFenceError(error, 'invalid_path')) throw refuse('not_allowed');
    throw error;
  }
}

/**
 * Returns the part of an absolute path after the project root, compared segment by segment; undefined if it starts
 * elsewhere.
 */
function belowRoot(path: string, projectRoot: string): string | undefined {
  if (NETWORK.test(path) !== NETWORK.test(projectRoot)) return undefined;
  const root = projectRoot.split('/').filter(Boolean);
  const names = path.split('/').filter(Boolean);
  if (!path.startsWith('/') && root.length === 0) return undefined;
  return root.every((name, i) => name === names[i]) ? names.slice(root.length).join('/') : undefined;
}
