import { type CallerPath, type EntryType, ROOT_PATH, type Root, withLocation } from '../fence/index.ts';
import { IsoTimeFormatter } from '../runtime/iso-times.ts';
import { DEFAULT_CONTEXT, type OperationContext, throwIfAborted } from '../runtime/operation-context.ts';
import { Deadline } from './limits.ts';
import type { FoundEntry } from './pool/glob-task.ts';
import { OrderedSearch } from './pool/ordered-search.ts';
import type { SearchPool } from './pool/search-pool.ts';
import { DEFAULT_MAX_RESULTS, DEFAULT_TIMEOUT_SECONDS } from './task/specs.ts';

/** How many entries may be found before something that takes long. */
const MAX_WAITING = 100_000;

const ALL_TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'other'];

/** What a path has to match, from `path` on: a glob, or a regular expression in RE2 syntax, not anchored. */
export type PathQuery =
  | { readonly pattern: string; readonly regex?: undefined }
  | { readonly regex: string; readonly pattern?: undefined };

export type GlobOptions = PathQuery & GlobScope;

export interface GlobScope {
  /** A folder, by default the root. A link here is followed if it stays inside; links met on the way are not. */
  readonly path?: CallerPath;
  /** By default 1,000. */
  readonly maxResults?: number;
  /** How long to search before it returns what it has found, by default 30. */
  readonly timeoutSeconds?: number;
  /** 1 is the direct children of `path`; 0 is nothing, since `path` itself is never a result. */
  readonly maxDepth?: number | undefined;
  /** By default `all`. */
  readonly type?: 'file' | 'directory' | 'symlink' | 'all';
  readonly skipHidden?: boolean;
}

export interface GlobMatch {
  /** Relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  /** Of the link itself for a link. */
  readonly size: number;
  /** ISO 8601. */
  readonly modifiedAt: string;
}

export interface GlobResult {
  /** By code point of the whole path. */
  readonly matches: readonly GlobMatch[];
  readonly totalMatches: number;
  /** There was at least one match more. */
  readonly truncated: boolean;
  /** Time was up: the matches are those that come first. */
  readonly timedOut: boolean;
  /** Folders left out as unreadable. */
  readonly skipped: number;
}

/**
 * Finds entries below a folder by glob or regular expression, hidden ones too. `*` does not cross `/`, `**` does; a
 * glob that ends in `/` is for folders only.
 *
 * Raises `invalid_pattern`, what opening `path` raises, and `cancelled`.
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
      kind: 'entries',
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
      maxWaitingWeight: MAX_WAITING,
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
  // Rounded as Node rounds the times of `stats`, so that every tool tells the same.
  return { path, type, size, modifiedAt: times.format(Math.round(mtimeMs)) };
}
