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
  /**
   * Globs of files and folders to leave out: by name if they have no slash, by path relative to `path` if they have
   * one.
   */
  readonly exclude?: readonly string[] | undefined;
  /**
   * Whether to skip `.git` and what `.gitignore` and `.ignore` files inside the root rule out, in or above `path`. By
   * default nothing is skipped.
   */
  readonly ignore?: boolean;
  /** Number of matches to leave out at the beginning. */
  readonly offset?: number;
  /** By path, or by modification time with the newest first. */
  readonly sortBy?: 'path' | 'modified';
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
  /** Sorted by code point of the whole path, or as `sortBy` says. */
  readonly matches: readonly GlobMatch[];
  readonly totalMatches: number;
  /** Whether there was at least one more match. */
  readonly truncated: boolean;
  /**
   * Whether the time ran out. The matches are then a prefix of the complete result, or the newest that were found in
   * time.
   */
  readonly timedOut: boolean;
  /** Number of folders that could not be read. */
  readonly skipped: number;
  /** Number of entries that were compared with the pattern. */
  readonly entriesSeen: number;
  /** Number of entries that ignore rules leave out. Nothing below such a folder is counted. */
  readonly ignored: number;
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
  const { exclude = [], ignore = false, offset = 0, sortBy = 'path' } = options;
  const end = offset + maxResults;
  return withLocation(root, path, async () => {
    const spec = {
      kind: 'glob' as const,
      root: root.share(),
      path,
      maxDepth,
      skipHidden,
      ignore,
      exclude,
      glob: pattern,
      regex,
      types: type === 'all' ? ALL_TYPES : [type],
      maxResults: sortBy === 'path' ? end : Number.POSITIVE_INFINITY,
    };
    using search = pool.begin(spec, context.share);
    using _deadline = new Deadline(search, context.signal, timeoutSeconds);
    const entries = sortBy === 'path' ? new FirstEntries(end) : new NewestEntries(end);
    const counts = { skipped: 0, seen: 0, ignored: 0 };
    const ordered = new OrderedSearch(search, {
      workers: pool.size,
      maxBufferedWeight: MAX_BUFFERED,
      weigh: (found) => found.entries.length,
      take: (found) => {
        entries.add(found.entries);
        counts.skipped += found.skipped;
        counts.seen += found.seen;
        counts.ignored += found.ignored;
        context.progress?.(entries.count);
        return sortBy === 'modified' || entries.count <= end;
      },
    });
    const outcome = await ordered.run();
    throwIfAborted(context.signal);
    const times = new IsoTimeFormatter();
    const matches = entries
      .first()
      .slice(offset)
      .map((entry) => toMatch(entry, times));
    const { skipped, seen: entriesSeen, ignored } = counts;
    const [truncated, timedOut] = [entries.count > end, outcome === 'stopped'];
    return { matches, totalMatches: matches.length, truncated, timedOut, skipped, entriesSeen, ignored };
  });
}

/** Collects entries in path order. */
class FirstEntries {
  protected entries: FoundEntry[] = [];
  protected readonly end: number;
  /** Number of entries found. */
  count = 0;

  constructor(end: number) {
    this.end = end;
  }

  add(found: readonly FoundEntry[]): void {
    this.count += found.length;
    for (const entry of found) this.entries.push(entry);
  }

  /** Returns the first `end` entries. */
  first(): FoundEntry[] {
    return this.entries.slice(0, this.end);
  }
}

/** Number of entries that are collected beyond those that will be returned before the oldest are dropped. */
const SURPLUS = 10_000;

/** Collects the newest entries. Those of the same time stay in path order. */
class NewestEntries extends FirstEntries {
  override add(found: readonly FoundEntry[]): void {
    super.add(found);
    if (this.entries.length > this.end + SURPLUS) this.entries = this.first();
  }

  override first(): FoundEntry[] {
    return this.entries.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, this.end);
  }
}

function toMatch({ path, type, size, mtimeMs }: FoundEntry, times: IsoTimeFormatter): GlobMatch {
  // Rounded like `Stats.mtime`, so that all tools report the same time for a file.
  return { path, type, size, modifiedAt: times.format(Math.round(mtimeMs)) };
}
