import { type CallerPath, type EntryType, ROOT_PATH, type Root, withLocation } from '../fence/index.ts';
import { IsoTimeFormatter } from '../runtime/iso-times.ts';
import { DEFAULT_CONTEXT, type OperationContext, throwIfAborted } from '../runtime/operation-context.ts';
import { DEFAULT_MAX_RESULTS, DEFAULT_TIMEOUT_SECONDS, Deadline } from './limits.ts';
import type { FoundEntry } from './pool/glob-task.ts';
import { OrderedSearch } from './pool/ordered-search.ts';
import type { SearchPool } from './pool/search-pool.ts';

/** Maximum number of entries that are held back because an earlier part of the tree is not finished. */
const MAX_BUFFERED = 100_000;

const ALL_TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'other'];

/** What a path, relative to `path`, has to match: a glob, or an unanchored regular expression in RE2 syntax. */
export type PathQuery =
  | { readonly pattern: string; readonly regex?: undefined }
  | { readonly regex: string; readonly pattern?: undefined };

/** Options of `glob`. */
export type GlobOptions = PathQuery & GlobScope;

/** Where `glob` searches, and its limits. */
export interface GlobScope {
  /**
   * The folder to search, by default the root. A symbolic link here is followed if it stays inside the root; links
   * found during the search are not followed.
   */
  readonly path?: CallerPath;
  /** Maximum number of matches, by default 1,000. */
  readonly maxResults?: number;
  /** Time after which the search returns what it has found, by default 30 seconds. */
  readonly timeoutSeconds?: number;
  /** Maximum depth: 1 is the direct children of `path`. 0 finds nothing, since `path` itself is never a result. */
  readonly maxDepth?: number | undefined;
  /** Type of entries to find, by default `all`. */
  readonly type?: 'file' | 'directory' | 'symlink' | 'all';
  /** Skips entries whose name starts with a dot, and everything below such folders. */
  readonly skipHidden?: boolean;
}

/** An entry that matched. */
export interface GlobMatch {
  /** Path relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  /** Size in bytes; for a symbolic link, that of the link itself. */
  readonly size: number;
  /** Modification time in ISO 8601. */
  readonly modifiedAt: string;
}

/** The result of `glob`. */
export interface GlobResult {
  /** Sorted by code point of the whole path. */
  readonly matches: readonly GlobMatch[];
  readonly totalMatches: number;
  /** Whether there was at least one more match. */
  readonly truncated: boolean;
  /** Whether the time ran out. The matches are then a prefix of the complete result. */
  readonly timedOut: boolean;
  /** Number of folders that could not be read. */
  readonly skipped: number;
}

/**
 * Finds entries below a folder by glob or regular expression, including hidden ones. In a glob, `*` does not match `/`,
 * `**` does, and a trailing `/` restricts the glob to folders.
 *
 * The order is the same on every run. Entries that are created, moved or removed during the search may or may not be
 * found.
 *
 * Raises `invalid_pattern`, what opening `path` raises, `cancelled`, and `internal` if a worker thread crashes.
 */
export async function glob(
  root: Root,
  options: GlobOptions,
  pool: SearchPool,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<GlobResult> {
  throwIfAborted(context.signal);
  const { pattern, regex, path = ROOT_PATH, maxDepth, type = 'all', skipHidden = false } = options;
  const { maxResults = DEFAULT_MAX_RESULTS, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
  return withLocation(root, path, async () => {
    using search = pool.begin({
      kind: 'glob',
      root: root.share(),
      path,
      maxDepth,
      skipHidden,
      glob: pattern,
      regex,
      types: type === 'all' ? ALL_TYPES : [type],
      maxResults,
    });
    using _deadline = new Deadline(search, context.signal, timeoutSeconds);
    const entries: FoundEntry[] = [];
    let skipped = 0;
    const ordered = new OrderedSearch(search, {
      workers: pool.size,
      maxBufferedWeight: MAX_BUFFERED,
      weigh: (found) => found.entries.length,
      take: (found) => {
        for (const entry of found.entries) entries.push(entry);
        skipped += found.skipped;
        context.progress?.(entries.length);
        return entries.length <= maxResults;
      },
    });
    const outcome = await ordered.run();
    throwIfAborted(context.signal);
    const times = new IsoTimeFormatter();
    const matches = entries.slice(0, maxResults).map((entry) => toMatch(entry, times));
    const [truncated, timedOut] = [outcome === 'full', outcome === 'stopped'];
    return { matches, totalMatches: matches.length, truncated, timedOut, skipped };
  });
}

function toMatch({ path, type, size, mtimeMs }: FoundEntry, times: IsoTimeFormatter): GlobMatch {
  // Rounded like `Stats.mtime`, so that all tools report the same time for a file.
  return { path, type, size, modifiedAt: times.format(Math.round(mtimeMs)) };
}
