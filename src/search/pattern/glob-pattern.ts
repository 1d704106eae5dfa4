import { braceExpand, Minimatch } from 'minimatch';
import type { EntryType } from '../../fence/index.ts';
import { braceSize } from './brace-size.ts';
import { SearchError } from './search-error.ts';

const OPTIONS = { dot: true, nonegate: true, nocomment: true } as const;

/**
 * The most characters of all alternatives that the braces of a glob stand for, or of all globs of a list together.
 * Comparing a name takes up to 3 ns for each of them and each character of the name: 8 ms for the longest.
 */
const MAX_EXPANDED_LENGTH = 10_000;
const MAX_ALTERNATIVES = 1_000;
// Beyond this limit minimatch silently matches less than the glob says; see its option `maxGlobstarRecursion`.
const MAX_GLOBSTARS = 200;
const MAX_BRACES = 200;
/** minimatch parses groups such as `+(a|b)` by recursion. */
const MAX_GROUPS = 200;

const NUMERIC_RANGE = /(?<![\\$])\{(-?\d+)\.\.(-?\d+)\}/g;
/**
 * A numeric range of at least this many values counts as one alternative when alternatives are limited, since minimatch
 * then matches it as a number.
 */
const LARGE_RANGE = 100;

/** A compiled pattern for paths of entries. */
export interface PathPattern {
  /** Whether a path, relative to the start of the search, matches. */
  matches(path: string, type: EntryType): boolean;
  /** Whether an entry below this folder could match. False means that the folder can be skipped. */
  mayMatchBelow(folder: string): boolean;
}

/**
 * Compiles a glob in which `*` stays within a name and `**` crosses folders; a trailing `/` restricts it to folders.
 * Raises `invalid_pattern`, also for globs whose braces expand to more than 1,000 alternatives or 10,000 characters.
 */
export function compileGlob(glob: string): PathPattern {
  const pattern = compile(relative(glob));
  const foldersOnly = glob.endsWith('/');
  return {
    matches: (path, type) => {
      if (!foldersOnly) return pattern.match(path);
      return type === 'directory' && pattern.match(`${path}/`);
    },
    mayMatchBelow: (folder) => pattern.match(folder, true),
  };
}

/**
 * Compiles a glob for files that looks at the name if it has no slash and at the path relative to the start of the
 * search if it has one. Raises `invalid_pattern`.
 */
export function compileGlobFilter(glob: string): (path: string) => boolean {
  const matches = compileNameOrPath(glob);
  return (path) => matches(path, 'file');
}

/**
 * Compiles globs of files and folders to leave out. One without a slash looks at the name, any other at the path
 * relative to the start of the search; a trailing `/` restricts it to folders. Raises `invalid_pattern`, also for globs
 * that expand to more than 10,000 characters together.
 */
export function compileExcludes(globs: readonly string[]): (path: string, type: EntryType) => boolean {
  const length = globs.reduce((sum, glob) => sum + expandedLength(glob), 0);
  if (length > MAX_EXPANDED_LENGTH) throw tooMany();
  const tests = globs.map(compileNameOrPath);
  return (path, type) => tests.some((test) => test(path, type));
}

/** Compiles a glob that looks at the name of an entry if it has no slash before its end, otherwise at the path. */
function compileNameOrPath(glob: string): (path: string, type: EntryType) => boolean {
  const pattern = compileGlob(glob);
  if (glob.slice(0, -1).includes('/')) return (path, type) => pattern.matches(path, type);
  return (path, type) => pattern.matches(path.slice(path.lastIndexOf('/') + 1), type);
}

/** Returns how many characters the alternatives have together that the braces of a glob stand for. */
export function expandedLength(glob: string): number {
  return braceSize(withoutLargeRanges(relative(glob))).length;
}

/** Returns a glob without what stands for the start of the search. */
function relative(glob: string): string {
  return glob.replace(/^(?:\.?\/+)+/, '');
}

function compile(pattern: string): Minimatch {
  if (pattern === '') throw invalid('the glob is empty');
  if (pattern.length > MAX_EXPANDED_LENGTH) throw invalid(`the glob is longer than ${MAX_EXPANDED_LENGTH} characters`);
  if (count(pattern, '**') > MAX_GLOBSTARS) throw invalid(`the glob has more than ${MAX_GLOBSTARS} "**"`);
  if (count(pattern, '{') > MAX_BRACES) throw invalid(`the glob has more than ${MAX_BRACES} "{"`);
  if (count(pattern, '(') > MAX_GROUPS) throw invalid(`the glob has more than ${MAX_GROUPS} "("`);
  refuseUnclosed(pattern);
  const size = braceSize(withoutLargeRanges(pattern));
  if (size.alternatives > MAX_ALTERNATIVES || size.length > MAX_EXPANDED_LENGTH) throw tooMany();
  // One more than allowed, since minimatch drops what exceeds its own limit without a word.
  const expanded = braceExpand(withoutLargeRanges(pattern), { braceExpandMax: MAX_ALTERNATIVES + 1 });
  const length = expanded.reduce((sum, alternative) => sum + alternative.length, 0);
  if (expanded.length > MAX_ALTERNATIVES || length > MAX_EXPANDED_LENGTH) throw tooMany();
  const compiled = new Minimatch(pattern, { ...OPTIONS, braceExpandMax: MAX_ALTERNATIVES + 1 });
  if (compiled.globSet.length > MAX_ALTERNATIVES) throw tooMany();
  return compiled;
}

/**
 * Rejects an unclosed bracket or brace: minimatch treats it as a literal character, which is hardly what its author
 * meant.
 */
function refuseUnclosed(pattern: string): void {
  const open = pattern.replace(/\\.|\[[!^]?(?:\](?:\\.|[^\]\\])*|(?:\\.|[^\]\\])+)\]/gs, '').replace(/[^[{}]/g, '');
  if (open.includes('[')) throw invalid('the glob has a "[" without a "]"; write "\\[" for the character');
  if (count(open, '{') > count(open, '}'))
    throw invalid('the glob has a "{" without a "}"; write "\\{" for the character');
}

function withoutLargeRanges(pattern: string): string {
  return pattern.replace(NUMERIC_RANGE, (range, from, to) =>
    Math.abs(Number(to) - Number(from)) + 1 >= LARGE_RANGE ? '0' : range,
  );
}

function tooMany(): SearchError {
  return invalid('the braces of the glob stand for too many alternatives');
}

function invalid(problem: string): SearchError {
  return new SearchError('invalid_pattern', { problem });
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
