import type { PathInfo } from '../listing-entry.ts';
import type { ListingQuestion } from '../sample.ts';
import type { CachedListing, FileCache } from './file-cache.ts';

/** What the listings in a cache tell of folders and files. The newest that covers a path is believed. */
export class Listings {
  readonly #cache: FileCache;

  constructor(cache: FileCache) {
    this.#cache = cache;
  }

  /** Keeps a listing, and drops from the cache every file that it says was changed since. Raises `too_large`. */
  keep({ path, pattern, recursive }: ListingQuestion, entries: readonly PathInfo[]): void {
    this.#cache.setListing(keyOf(path, pattern), entries, recursive);
    for (const file of filesIn(entries)) if (file.mtime !== undefined) this.#cache.invalidate(file.path, file.mtime);
  }

  /** The entries of a folder as far as they answer the question; they may hold more than matches its pattern. */
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

  /** What is known of one file or folder. */
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

  /** Every unfiltered listing that tells what is in a folder, its own or one from further up, the newest first. */
  #covering(folder: string): Covering[] {
    const names = folder === '.' ? [] : folder.split('/');
    const found: Covering[] = [];
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

interface Covering {
  readonly key: string;
  readonly entries: readonly PathInfo[];
  readonly deep: boolean;
  readonly at: number;
}

/** A name cannot hold a NUL, so no folder's name is taken for another's with a pattern. */
function keyOf(path: string, pattern: string | undefined): string {
  return pattern === undefined ? path : `${path}\0${pattern}`;
}

function descend({ entries }: CachedListing, names: readonly string[]): readonly PathInfo[] | undefined {
  let here: readonly PathInfo[] | undefined = entries;
  for (const name of names) here = here?.find((entry) => entry.name === name)?.children;
  return here;
}

/** Whether every folder in it is told too. */
function isWhole(entries: readonly PathInfo[]): boolean {
  return entries.every(({ type, children }) => type !== 'directory' || (children !== undefined && isWhole(children)));
}

function filesIn(entries: readonly PathInfo[]): PathInfo[] {
  return entries.flatMap((entry) => (entry.type === 'directory' ? filesIn(entry.children ?? []) : [entry]));
}
