import type { CallerPath, EntryType, Root } from '../fence/index.ts';
import { type Control, throwIfAborted } from './control.ts';
import { located } from './located.ts';
import { Deadline } from './search/deadline.ts';
import type { FoundEntry } from './search/messages.ts';
import type { Search, SearchPool } from './search/pool.ts';

/** How many entries one answer of a worker holds at most. */
const ENTRIES_AT_ONCE = 1_000;

const ALL_TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'other'];

/** What a path has to match, from `path` on: a glob, or a regular expression in RE2 syntax, not anchored. */
export type PathQuery =
  | { readonly pattern: string; readonly regex?: undefined }
  | { readonly regex: string; readonly pattern?: undefined };

export type GlobOptions = PathQuery & GlobScope;

interface GlobScope {
  /** A folder. A link here is followed if it stays inside; links met on the way are not. */
  readonly path: CallerPath;
  readonly maxResults: number;
  readonly timeoutSeconds: number;
  /** 1 is the direct children of `path`; 0 is nothing, since `path` itself is never a result. */
  readonly maxDepth?: number | undefined;
  readonly type: 'file' | 'directory' | 'symlink' | 'all';
  readonly skipHidden?: boolean;
}

interface GlobMatch {
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
export async function glob(root: Root, options: GlobOptions, pool: SearchPool, control: Control): Promise<GlobResult> {
  throwIfAborted(control.signal);
  const { pattern, regex, path, maxResults, timeoutSeconds, maxDepth, type, skipHidden = false } = options;
  return located(root, path, async () => {
    using search = pool.begin({
      kind: 'entries',
      root: root.share(),
      path,
      maxDepth,
      skipHidden,
      glob: pattern,
      regex,
      types: type === 'all' ? ALL_TYPES : [type],
    });
    using _deadline = new Deadline(search, control.signal, timeoutSeconds);
    const { entries, done, skipped } = await list(search, maxResults + 1, control);
    throwIfAborted(control.signal);
    const matches = entries.slice(0, maxResults).map(toMatch);
    const truncated = entries.length > maxResults;
    return { matches, totalMatches: matches.length, truncated, timedOut: !done && !truncated, skipped };
  });
}

/** Up to `count` entries; `done` if there are no more. */
async function list(search: Search, count: number, control: Control) {
  const entries: FoundEntry[] = [];
  for (;;) {
    const wanted = Math.min(count - entries.length, ENTRIES_AT_ONCE);
    const answer = await search.run({ type: 'listEntries', entries: wanted });
    for (const entry of answer.entries) entries.push(entry);
    control.progress(entries.length);
    if (answer.done || search.stopped || entries.length >= count)
      return { entries, done: answer.done, skipped: answer.skipped };
  }
}

function toMatch({ path, type, size, modified }: FoundEntry): GlobMatch {
  return { path, type, size, modifiedAt: modified.toISOString() };
}
