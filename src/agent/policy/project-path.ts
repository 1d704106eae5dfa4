import { isFenceError, parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import type { Violation } from '../agent-error.ts';
import { BridgeError, SecurityError } from '../bridge-error.ts';

/** What no path and no name may hold: it would garble a prompt or a log line, or end a name early. */
const CONTROL = /\p{Cc}/u;
/** Longer than any system opens. */
const MAX_LENGTH = 4096;

/** From the top of some system: a slash, a drive, a network share, a home folder, a URL. */
const ABSOLUTE = /^(?:\/|[a-z]:|~\w*(?:\/|$)|[a-z][a-z0-9+.-]*:\/\/|file:)/i;
const NETWORK = /^\/\//;
/** The same once more for what is left when `..` is taken out: `x/../C:/y` is `C:/y`. */
const NOT_RELATIVE = /^(?:[a-z]:|~\w*$|file:)/i;
/** Some systems drop trailing dots and spaces, and then these climb. */
const DOTS_AND_SPACES = /^\.[. ]+$/;

interface Project {
  readonly projectRoot: string;
  /** For messages. */
  readonly allowed?: readonly string[];
}

/** Why a path cannot be one at all, or undefined: for schemas that check a path's form before anything else. */
export function pathProblem(raw: string): string | undefined {
  if (CONTROL.test(raw)) return 'must not contain control characters or NUL';
  if (!raw.isWellFormed()) return 'must be valid Unicode';
  return raw.length > MAX_LENGTH ? `must not be longer than ${MAX_LENGTH} characters` : undefined;
}

/**
 * The names of a path from the project root down, none at all for the root itself. `\` separates like `/`, so that a
 * path means the same to an agent on any system; percent forms are ordinary characters; `..` takes back the name before
 * it. An absolute path counts only if it is spelled below the project root. Raises a `SecurityError`, or `name_too_long`.
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
    // A name that this program keeps for its own temporary files.
    if (isFenceError(error, 'invalid_path')) throw refuse('not_allowed');
    throw error;
  }
}

/** What follows the project root in an absolute path, compared name by name; undefined if it starts elsewhere. */
function belowRoot(path: string, projectRoot: string): string | undefined {
  if (NETWORK.test(path) !== NETWORK.test(projectRoot)) return undefined;
  const root = projectRoot.split('/').filter(Boolean);
  const names = path.split('/').filter(Boolean);
  if (!path.startsWith('/') && root.length === 0) return undefined;
  return root.every((name, i) => name === names[i]) ? names.slice(root.length).join('/') : undefined;
}
