import { RingfenceError } from '../../errors.ts';
import type { EntryType } from '../../fence/index.ts';
import { compileGlob } from '../../search/pattern/glob-pattern.ts';
import { BridgeError } from '../bridge-error.ts';
import type { PathInfo } from '../listing-entry.ts';
import { pathProblem } from '../policy/project-path.ts';

const MAX_LENGTH = 1024;
/** `..` as a whole name, also as an alternative of a brace or a group. */
const CLIMBS = /(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])/;
const ABSOLUTE = /^(?:[/\\~]|[a-z]:|[a-z][a-z0-9+.-]*:\/\/)/i;

/** Whether an entry matches, by its path from the listed folder. */
export type ListingFilter = (path: string, type: EntryType) => boolean;

/**
 * Compiles the pattern of a listing: without a slash it looks at names, with one at paths from the listed folder. A pattern
 * that points outside the folder, or that cannot be matched safely, is `invalid_pattern`.
 */
export function compileListingFilter(pattern: string): ListingFilter {
  if (typeof pattern !== 'string') throw invalid('it must be a string');
  const problem = pathProblem(pattern);
  if (problem !== undefined) throw invalid(`it ${problem}`);
  if (pattern.length > MAX_LENGTH) throw invalid(`it is longer than ${MAX_LENGTH} characters`);
  if (CLIMBS.test(pattern)) throw invalid('it must not climb out of the folder with ".."');
  if (ABSOLUTE.test(pattern)) throw invalid('it must be relative to the listed folder');
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

const SHOWN = 20;

/** A line for each file that the filter left out, the first few by name. */
export function leftOut(entries: readonly PathInfo[], kept: readonly PathInfo[]): string[] {
  const names = new Set(pathsIn(kept));
  const left = pathsIn(entries).filter((path) => !names.has(path));
  const lines = left.slice(0, SHOWN).map((path) => `${path} does not match the pattern and was left out`);
  return left.length > SHOWN ? [...lines, `${left.length - SHOWN} more were left out`] : lines;
}

function pathsIn(entries: readonly PathInfo[]): string[] {
  return entries.flatMap(({ path, type, children = [] }) => (type === 'directory' ? pathsIn(children) : [path]));
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
