import { RingfenceError } from '../../errors.ts';
import type { EntryType } from '../../fence/index.ts';
import { compileGlob, expandedLength } from '../../search/index.ts';
import { BridgeError } from '../bridge-error.ts';
import type { PathInfo } from '../listing-entry.ts';
import { pathProblem } from '../policy/project-path.ts';

const MAX_LENGTH = 1024;
/**
 * The most characters of names times characters that a pattern expands to. Each takes up to 3 ns, and all of them are
 * compared in one turn of the event loop.
 */
const MAX_WORK = 16_000_000;
const MAX_EXPANDED_LENGTH = 2_000;
/** Matches `..` as a path segment, including as an alternative in a brace or an extglob group. */
const CLIMBS = /(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])/;
const ABSOLUTE = /^(?:[/\\~]|[a-z]:|[a-z][a-z0-9+.-]*:\/\/)/i;

/** Tests an entry by its path relative to the listed folder. */
export type ListingFilter = (path: string, type: EntryType) => boolean;

/**
 * Compiles a glob for listings. Without a slash it matches names, with one it matches paths relative to the listed
 * folder. Raises `invalid_pattern` for a pattern that points outside the folder or that the glob compiler refuses; so
 * does the filter itself for a pattern that expands to too much for the entries that it has tested.
 */
export function compileListingFilter(pattern: string): ListingFilter {
  if (typeof pattern !== 'string') throw invalid('it must be a string');
  const problem = pathProblem(pattern);
  if (problem !== undefined) throw invalid(`it ${problem}`);
  if (pattern.length > MAX_LENGTH) throw invalid(`it is longer than ${MAX_LENGTH} characters`);
  if (CLIMBS.test(pattern)) throw invalid('it must not climb out of the folder with ".."');
  if (ABSOLUTE.test(pattern)) throw invalid('it must be relative to the listed folder');
  const length = expandedLength(pattern);
  if (length > MAX_EXPANDED_LENGTH) throw invalid('its braces stand for too many alternatives');
  const glob = compiled(pattern);
  const isPath = pattern.includes('/');
  let work = 0;
  return (path, type) => {
    const text = isPath ? path : path.slice(path.lastIndexOf('/') + 1);
    work += text.length * length;
    if (work > MAX_WORK) throw invalid('it stands for too much to compare with so many entries');
    return glob.matches(text, type);
  };
}

/** Returns the entries that match, and the folders that contain a match. */
export function filterEntries(entries: readonly PathInfo[], matches: ListingFilter, above = ''): PathInfo[] {
  return entries.flatMap((entry) => {
    const path = above + entry.name;
    const children = entry.children && filterEntries(entry.children, matches, `${path}/`);
    const wanted = matches(path, entry.type) || (children !== undefined && children.length > 0);
    return wanted ? [children === undefined ? entry : { ...entry, children }] : [];
  });
}

const SHOWN = 20;

/** Returns a warning for each file that is in `entries` but not in `kept`: the first 20 by name, then a count. */
export function describeExcluded(entries: readonly PathInfo[], kept: readonly PathInfo[]): string[] {
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
