import type { PathInfo } from '../listing-entry.ts';
import type { ListingQuestion } from '../sample.ts';
import { type CachedListing, type FileCache, listingName } from './file-cache.ts';

/** Looks up folders and files in the cached listings. Where several listings cover a path, the newest wins. */
export class ListingIndex {
  readonly #cache: FileCache;

  constructor(cache: FileCache) {
    this.#cache = cache;
  }

  /** Caches a listing, and drops each cached file that is older than its mtime in the listing. Raises `too_large`. */
  keep({ path, pattern, recursive }: ListingQuestion, entries: readonly PathInfo[]): void {
    this.#cache.setListing(keyOf(path, pattern), entries, recursive);
    for (const file of filesIn(entries)) if (file.mtime !== undefined) this.#cache.invalidate(file.path, file.mtime);
  }

  /**
   * Returns the cached entries that answer a question, or undefined. They may include entries that do not match its
   * pattern.
   */
  find({ path, pattern, recursive }: ListingQuestion): readonly PathInfo[] | undefined {
    const whole = this.#covering(path).find((known) => !recursive || known.deep || isWhole(known.entries));
    if (whole !== undefined) {
      this.#cache.getListing(whole.key);
      return whole.entries;
    }
    if (pattern === undefined) return undefined;
    const filtered = this.#cache.getListing(keyOf(path, pattern));
    return filtered !== undefined && (filtered.recursive || !recursive) ? filtered.entries : undefined;
  }

  /** Returns the entry of one file or folder, or undefined if no listing covers it. */
  info(path: string): PathInfo | undefined {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const above = slash === -1 ? '.' : path.slice(0, slash);
    for (const { entries } of path === '.' ? [] : this.#covering(above)) {
      const found = entries.find((entry) => entry.name === name);
      if (found !== undefined) return found;
    }
    return this.#covering(path).length > 0 ? { name, path, type: 'directory' } : undefined;
  }

  /** Returns what a listing is of, by its key in the cache. */
  describe(key: string): { readonly path: string; readonly pattern: string | undefined } {
    const [path = '', pattern] = listingName(key).split('\0');
    return { path, pattern };
  }

  /**
   * Returns the unfiltered listings that include a folder's entries: its own, or a recursive one of a folder above.
   * Newest first.
   */
  #covering(folder: string): CoveringListing[] {
    const names = folder === '.' ? [] : folder.split('/');
    const found: CoveringListing[] = [];
    for (let length = names.length; length >= 0; length -= 1) {
      const key = keyOf(names.slice(0, length).join('/') || '.', undefined);
      const listing = this.#cache.peekListing(key);
      if (listing === undefined) continue;
      const entries = descend(listing, names.slice(length));
      if (entries !== undefined) found.push({ key, entries, deep: listing.recursive, at: listing.cachedAt });
    }
    return found.sort((a, b) => b.at - a.at);
  }
}

interface CoveringListing {
  readonly key: string;
  readonly entries: readonly PathInfo[];
  readonly deep: boolean;
  readonly at: number;
}

/** Paths cannot contain NUL, so a path with a pattern never collides with another path. */
function keyOf(path: string, pattern: string | undefined): string {
  return pattern === undefined ? path : `${path}\0${pattern}`;
}

function descend({ entries }: CachedListing, names: readonly string[]): readonly PathInfo[] | undefined {
  let here: readonly PathInfo[] | undefined = entries;
  for (const name of names) here = here?.find((entry) => entry.name === name)?.children;
  return here;
}

/** Whether the entries of every nested folder are included. */
function isWhole(entries: readonly PathInfo[]): boolean {
  return entries.every(({ type, children }) => type !== 'directory' || (children !== undefined && isWhole(children)));
}

function filesIn(entries: readonly PathInfo[]): PathInfo[] {
  return entries.flatMap((entry) => (entry.type === 'directory' ? filesIn(entry.children ?? []) : [entry]));
}
