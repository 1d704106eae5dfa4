import { RingfenceError } from '../errors.ts';
import type { EntryType } from '../fence/index.ts';
import { compileGlob } from '../ops/search/glob-pattern.ts';
import { BridgeError, SecurityError } from './bridge-error.ts';
import type { PathInfo } from './listing.ts';
import { pathProblem } from './project-path.ts';

const MAX_LENGTH = 1024;
/** `..` as a whole name, also as an alternative of a brace or a group. */
const CLIMBS = /(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])/;
const ABSOLUTE = /^(?:[/\\~]|[a-z]:|[a-z][a-z0-9+.-]*:\/\/)/i;

/** Whether an entry matches, by its path from the listed folder. */
export type ListingFilter = (path: string, type: EntryType) => boolean;

/**
 * Compiles the pattern of a listing: without a slash it looks at names, with one at paths from the listed folder. A pattern
 * that points outside the folder is a `SecurityError`; one that cannot be matched, or not safely, is `invalid_pattern`.
 */
export function compileListingFilter(pattern: string): ListingFilter {
  if (typeof pattern !== 'string') throw invalid('it must be a string');
  const problem = pathProblem(pattern);
  if (problem !== undefined) throw invalid(`it ${problem}`);
  if (pattern.length > MAX_LENGTH) throw invalid(`it is longer than ${MAX_LENGTH} characters`);
  if (CLIMBS.test(pattern)) throw new SecurityError('traversal', pattern);
  if (ABSOLUTE.test(pattern)) throw new SecurityError('absolute', pattern);
  const glob = compiled(pattern);
  if (pattern.includes('/')) return (path, type) => glob.matches(path, type);
  return (path, type) => glob.matches(path.slice(path.lastIndexOf('/') + 1), type);
}

/** The entries that match, and the folders on the way to them. */
export function filterEntries(entries: readonly PathInfo[], matches: ListingFilter, above = ''): PathInfo[] {
  return entries.flatMap((entry) => {
    const path = above + entry.name;
    const children = entry.children && filterEntries(entry.children, matches, `${path}/`);
    const wanted = matches(path, entry.type) || (children !== undefined && children.length > 0);
    return wanted ? [children === undefined ? entry : { ...entry, children }] : [];
  });
}

function compiled(pattern: string): ReturnType<typeof compileGlob> {
  try {
    return compileGlob(pattern);
  } catch (error) {
    throw error instanceof RingfenceError ? BridgeError.from(error, pattern) : error;
  }
}

function invalid(problem: string): BridgeError {
  return new BridgeError('invalid_pattern', { problem });
}
