import { type CallerPath, ROOT_PATH, type Root, withLocation } from '../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, throwIfAborted } from '../runtime/operation-context.ts';
import type { LineMatch } from './file/match-list.ts';
import { Deadline } from './limits.ts';
import { LineSearch } from './pool/match-merger.ts';
import type { SearchPool } from './pool/search-pool.ts';
import { DEFAULT_MAX_RESULTS, DEFAULT_TIMEOUT_SECONDS } from './task/specs.ts';

/** What all shown lines may have in all, in characters, unless the caller says otherwise. */
const MAX_TEXT = 4 * 1024 * 1024;

export interface GrepOptions {
  /** A regular expression in RE2 syntax, or plain text with `literal`. Empty matches every line. */
  readonly pattern: string;
  readonly literal?: boolean;
  /** A folder, or one file; by default the root. A link here is followed if it stays inside; links met on the way are not. */
  readonly path?: CallerPath;
  /** Without a slash it is about a file's name, with one about its path from `path`. */
  readonly globFilter?: string | undefined;
  readonly caseInsensitive?: boolean;
  /** How many lines to show before and after each match, by default none. */
  readonly contextLines?: number;
  /** By default 1,000. */
  readonly maxResults?: number;
  /** How long to search before it returns what it has found, by default 30. */
  readonly timeoutSeconds?: number;
  /** 1 is the direct children of `path`; 0 is `path` itself, so nothing unless it is a file. */
  readonly maxDepth?: number | undefined;
  readonly skipHidden?: boolean;
  /** Larger files are left out, in bytes. */
  readonly maxFileSize?: number | undefined;
  readonly maxText?: number;
}

export interface GrepResult {
  /** By path, then by line. */
  readonly matches: readonly LineMatch[];
  readonly totalMatches: number;
  /** There was at least one match more. */
  readonly truncated: boolean;
  /** Time was up: the matches are those in the files that come first. */
  readonly timedOut: boolean;
  /** Of what was looked at: files searched, files with a match, files and folders left out as unreadable or too large. */
  readonly filesSearched: number;
  readonly filesMatched: number;
  readonly skipped: number;
}

/**
 * Finds lines that match, one match a line, in path order: by code point of the whole path. Binary files (a NUL in the
 * first 8 KB) and special files are left out. Lines are cut to 2,000 characters, the matching one around its match.
 *
 * Raises `invalid_pattern`, what opening `path` raises, `result_too_large` if a single match with its context exceeds
 * `maxText`, and `cancelled`.
 */
export async function grep(
  root: Root,
  options: GrepOptions,
  pool: SearchPool,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<GrepResult> {
  throwIfAborted(context.signal);
  const { pattern, path = ROOT_PATH, globFilter, caseInsensitive = false, contextLines = 0 } = options;
  const { maxResults = DEFAULT_MAX_RESULTS, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, literal = false } = options;
  const { maxDepth, skipHidden = false, maxFileSize, maxText = MAX_TEXT } = options;
  return withLocation(root, path, async () => {
    refuseUnreadable(root, path);
    using search = pool.begin({
      kind: 'lines',
      root: root.share(),
      path,
      maxDepth,
      skipHidden,
      pattern,
      literal,
      caseInsensitive,
      globFilter: globFilter || undefined,
      contextLines,
      maxResults,
      maxText,
      maxFileSize,
    });
    using _deadline = new Deadline(search, context.signal, timeoutSeconds);
    const progress = (files: number): void => context.progress?.(files);
    const lines = new LineSearch(search, { workers: pool.size, maxResults, maxText, progress });
    const outcome = await lines.run();
    throwIfAborted(context.signal);
    return {
      matches: lines.matches,
      totalMatches: lines.matches.length,
      truncated: outcome === 'full',
      timedOut: outcome === 'stopped',
      filesSearched: lines.counts.searched,
      filesMatched: lines.counts.matched,
      skipped: lines.counts.skipped,
    };
  });
}

/** A file that was named, not met on the way, is not passed over in silence. */
function refuseUnreadable(root: Root, path: CallerPath): void {
  using found = root.locate(path, { follow: true });
  if (found.stats?.isFile()) found.dir.openFile(found.name)[Symbol.dispose]();
}
