import { type CallerPath, ROOT_PATH, type Root, withLocation } from '../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, throwIfAborted } from '../runtime/operation-context.ts';
import type { FileCount, GrepOutput, LineMatch } from './file/match-list.ts';
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
  /** A type of files to search, by ripgrep's name for it: `ts`, `py`, `rust`. */
  readonly type?: string | undefined;
  /**
   * Globs of files and folders not to search: by name if they have no slash, by path relative to `path` if they have
   * one.
   */
  readonly exclude?: readonly string[] | undefined;
  /**
   * Whether to skip `.git` and what `.gitignore` and `.ignore` files inside the root rule out, in or above `path`.
   * `path` itself is searched in any case. By default everything is searched.
   */
  readonly ignore?: boolean;
  /** What to return, by default lines. With `files` a file is read only to its first match. */
  readonly output?: GrepOutput;
  /** Number of matches to leave out at the beginning, or of files if `output` is not lines. */
  readonly offset?: number;
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
  /**
   * The files with matches if `output` is not lines. With `files`, each count is at least 1 and means no more than
   * that.
   */
  readonly files: readonly FileCount[];
  /** Number of matches, or of files if `output` is not lines. */
  readonly totalMatches: number;
  /** Whether there was at least one more match. */
  readonly truncated: boolean;
  /** Whether the time ran out. The matches are then a prefix of the complete result. */
  readonly timedOut: boolean;
  /** Numbers of files searched, of files with a match, and of files and folders skipped as unreadable or too large. */
  readonly filesSearched: number;
  readonly filesMatched: number;
  readonly skipped: number;
  /** Number of files met, before any filter but ignore rules. */
  readonly filesSeen: number;
  /** Whether `path` is a file. */
  readonly pathIsFile: boolean;
  /** Number of files and folders that ignore rules leave out. Nothing below such a folder is counted. */
  readonly ignored: number;
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
  const { type, exclude = [], ignore = false, output = 'lines', offset = 0 } = options;
  return withLocation(root, path, async () => {
    const pathIsFile = isReadableFile(root, path);
    const spec = {
      kind: 'grep' as const,
      root: root.share(),
      path,
      maxDepth,
      skipHidden,
      ignore,
      exclude,
      pattern,
      literal,
      caseInsensitive,
      globFilter: globFilter || undefined,
      type,
      output,
      contextLines: output === 'lines' ? contextLines : 0,
      offset,
      maxResults,
      maxText,
      maxFileSize,
    };
    using search = pool.begin(spec, context.share);
    using _deadline = new Deadline(search, context.signal, timeoutSeconds);
    const progress = (files: number): void => context.progress?.(files);
    const merger = new MatchMerger(search, { workers: pool.size, offset, maxResults, maxText, progress });
    const outcome = await merger.run();
    throwIfAborted(context.signal);
    return {
      matches: merger.matches,
      files: merger.files,
      totalMatches: merger.matches.length + merger.files.length,
      truncated: outcome === 'full',
      timedOut: outcome === 'stopped',
      filesSearched: merger.counts.searched,
      filesMatched: merger.counts.matched,
      skipped: merger.counts.skipped,
      filesSeen: merger.counts.seen,
      pathIsFile,
      ignored: merger.counts.ignored,
    };
  });
}

/**
 * Returns whether `path` is a file. Raises the error of opening it if it cannot be read; unreadable files found during
 * the search are only counted.
 */
function isReadableFile(root: Root, path: CallerPath): boolean {
  using found = root.locate(path, { follow: true });
  if (!found.stats?.isFile()) return false;
  found.dir.openFile(found.name)[Symbol.dispose]();
  return true;
}
