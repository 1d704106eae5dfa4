import { type LineMatch, type MatchLimits, textLength } from '../file/match-list.ts';
import { unpackMatches } from '../file/packed-matches.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { GrepFound } from './match-collector.ts';
import { OrderedSearch, type SearchOutcome } from './ordered-search.ts';
import type { PooledSearch } from './search-pool.ts';

interface MatchMergerOptions extends MatchLimits {
  readonly workers: number;
  /** Called with the number of files handled so far. */
  progress(files: number): void;
}

/**
 * Runs a grep on the pool and merges the results of its tasks: it adds up counts and line numbers and enforces the
 * limits of the whole result.
 */
export class MatchMerger {
  readonly matches: LineMatch[] = [];
  /** Files searched, files with matches, and files and folders skipped, up to the last match. */
  readonly counts = { searched: 0, matched: 0, skipped: 0 };

  readonly #search: PooledSearch<GrepFound>;
  readonly #options: MatchMergerOptions;
  #text = 0;
  /** For the large file whose ranges are being merged: its number of lines so far, and whether any of them matched. */
  #linesBefore = 0;
  #hasMatched = false;

  constructor(search: PooledSearch<GrepFound>, options: MatchMergerOptions) {
    this.#search = search;
    this.#options = options;
  }

  /**
   * Resolves when the search has ended. Rejects with what a worker raises, and with `result_too_large` if not even one
   * match fits.
   */
  run(): Promise<SearchOutcome> {
    const { workers, maxText } = this.#options;
    return new OrderedSearch(this.#search, {
      workers,
      maxBufferedWeight: maxText,
      weigh: ({ text }) => text,
      take: (found) => this.#take(found),
    }).run();
  }

  #take({ files, searched, skipped, part }: GrepFound): boolean {
    if (part === undefined || part.isFirst) {
      this.#linesBefore = 0;
      this.#hasMatched = false;
    }
    for (const file of files) {
      this.#count(file);
      if (!this.#hasMatched) this.counts.matched += 1;
      this.#hasMatched = part !== undefined;
      if (!unpackMatches(file.matches, this.#linesBefore).every((match) => this.#add(match))) return false;
    }
    this.#count({ searched, skipped });
    this.#linesBefore += part?.lines ?? 0;
    this.#options.progress(this.counts.searched + this.counts.skipped);
    return true;
  }

  #count({ searched, skipped }: { searched: number; skipped: number }): void {
    this.counts.searched += searched;
    this.counts.skipped += skipped;
  }

  /** Adds a match. Returns false if it exceeds the limits. */
  #add(match: LineMatch): boolean {
    const { maxResults, maxText } = this.#options;
    if (this.matches.length >= maxResults) return false;
    const size = textLength(match);
    if (size > maxText && this.matches.length === 0)
      throw new SearchError('result_too_large', { size, limit: maxText });
    this.#text += size;
    if (this.#text > maxText) return false;
    this.matches.push(match);
    return true;
  }
}
