import { type CallerPath, ROOT_PATH, type Root, withLocation } from '../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, throwIfAborted } from '../runtime/operation-context.ts';
import type { LineMatch } from './file/match-list.ts';
import { DEFAULT_MAX_RESULTS, DEFAULT_TIMEOUT_SECONDS, Deadline } from './limits.ts';
import { MatchMerger } from './pool/match-merger.ts';
import type { SearchPool } from './pool/search-pool.ts';

/** Default of `maxText`. */
const MAX_TEXT = 4 * 1024 * 1024;

/** Options of `grep`. */
export interface GrepOptions {
  /** A regular expression in RE2 syntax, or plain text if `literal` is set. An empty pattern matches every line. */
  readonly pattern: string;
  /** Whether `pattern` is plain text instead of a regular expression. */
  readonly literal?: boolean;
  /**
   * A folder or one file, by default the root. A symbolic link here is followed if it stays inside the root; links
   * found during the search are not followed.
   */
  readonly path?: CallerPath;
  /** A glob that files must match: by name if it has no slash, by path relative to `path` if it has one. */
  readonly globFilter?: string | undefined;
  readonly caseInsensitive?: boolean;
  /** Number of lines to show before and after each match, by default 0. */
  readonly contextLines?: number;
  /** Maximum number of matches, by default 1,000. */
  readonly maxResults?: number;
  /** Time after which the search returns what it has found, by default 30 seconds. */
  readonly timeoutSeconds?: number;
  /** Maximum depth: 1 is the direct children of `path`. 0 finds something only if `path` is a file. */
  readonly maxDepth?: number | undefined;
  /** Skips entries whose name starts with a dot, and everything below such folders. */
  readonly skipHidden?: boolean;
  /** Files with more bytes are skipped. */
  readonly maxFileSize?: number | undefined;
  /** Maximum number of UTF-16 code units of all shown lines together, by default 4 Mi. */
  readonly maxText?: number;
}

/** The result of `grep`. */
export interface GrepResult {
  /** Sorted by code point of the whole path, then by line number. */
  readonly matches: readonly LineMatch[];
  readonly totalMatches: number;
  /** Whether there was at least one more match. */
  readonly truncated: boolean;
  /** Whether the time ran out. The matches are then a prefix of the complete result. */
  readonly timedOut: boolean;
  /** Numbers of files searched, of files with a match, and of files and folders skipped as unreadable or too large. */
  readonly filesSearched: number;
  readonly filesMatched: number;
  readonly skipped: number;
}

/**
 * Finds matching lines, at most one match per line, sorted by code point of the whole path. Binary files (a NUL in the
 * first 8 KB) and special files are ignored. Shown lines are cut to 2,000 code points, the matching one around its
 * match.
 *
 * Matching takes time linear in the bytes read, for every pattern. The order is the same on every run. Files that
 * change during the search may be searched in either version.
 *
 * Raises `invalid_pattern`, what opening `path` raises, `result_too_large` if a single match with its context exceeds
 * `maxText`, `cancelled`, and `internal` if a worker thread crashes.
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
      kind: 'grep',
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
    const merger = new MatchMerger(search, { workers: pool.size, maxResults, maxText, progress });
    const outcome = await merger.run();
    throwIfAborted(context.signal);
    return {
      matches: merger.matches,
      totalMatches: merger.matches.length,
      truncated: outcome === 'full',
      timedOut: outcome === 'stopped',
      filesSearched: merger.counts.searched,
      filesMatched: merger.counts.matched,
      skipped: merger.counts.skipped,
    };
  });
}

/**
 * Raises the error of opening `path` if it is a file that cannot be read. Unreadable files found during the search are
 * only counted.
 */
function refuseUnreadable(root: Root, path: CallerPath): void {
  using found = root.locate(path, { follow: true });
  if (found.stats?.isFile()) found.dir.openFile(found.name)[Symbol.dispose]();
}
