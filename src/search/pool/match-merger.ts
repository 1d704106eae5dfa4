import { type FileCount, type LineMatch, type MatchLimits, textLength } from '../file/match-list.ts';
import { unpackMatches } from '../file/packed-matches.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { FileCounts, GrepFound } from './match-collector.ts';
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
  /** The files with matches, if lines are only counted. */
  readonly files: FileCount[] = [];
  /** What was met up to the last match, and the number of files with matches. */
  readonly counts = { searched: 0, matched: 0, skipped: 0, seen: 0, ignored: 0 };

  readonly #search: PooledSearch<GrepFound>;
  readonly #options: MatchMergerOptions;
  #text = 0;
  /** For the large file whose ranges are being merged: its number of lines so far, and whether any of them matched. */
  #linesBefore = 0;
  #hasMatched = false;
  /** Number of matches or files that were left out at the beginning. */
  #passed = 0;

  constructor(search: PooledSearch<GrepFound>, options: MatchMergerOptions) {
    this.#search = search;
    this.#options = options;
  }

  /**
   * Resolves when the search has ended. Rejects with what a worker raises, and with `result_too_large` if not even one
   * match fits.
   */
  run(): Promise<SearchOutcome> {
    const { workers, maxText, offset } = this.#options;
    return new OrderedSearch(this.#search, {
      workers,
      maxBufferedWeight: maxText,
      weigh: ({ text }) => text,
      take: (found) => this.#take(found),
      toPass: (atFront) => (atFront || this.#passed === offset ? offset - this.#passed : undefined),
    }).run();
  }

  #take({ files, counts, part }: GrepFound): boolean {
    if (part === undefined || part.isFirst) {
      this.#linesBefore = 0;
      this.#hasMatched = false;
    }
    for (const { matches, passed, counts } of files) {
      this.#count(counts);
      this.#passed += passed;
      const isNew = !this.#hasMatched;
      if (isNew) this.counts.matched += 1;
      this.#hasMatched = part !== undefined;
      const fits =
        'count' in matches
          ? this.#addFile(matches, isNew)
          : unpackMatches(matches, this.#linesBefore).every((match) => this.#add(match));
      if (!fits) return false;
    }
    this.#count(counts);
    this.#linesBefore += part?.lines ?? 0;
    this.#options.progress(this.counts.searched + this.counts.skipped);
    return true;
  }

  #count({ searched, skipped, seen, ignored }: FileCounts): void {
    this.counts.searched += searched;
    this.counts.skipped += skipped;
    this.counts.seen += seen;
    this.counts.ignored += ignored;
  }

  /** Adds a file, or another part of the last one. Returns false if it exceeds the limits. */
  #addFile({ file, count }: FileCount, isNew: boolean): boolean {
    const { maxResults, offset } = this.#options;
    if (!isNew) {
      const last = this.files.pop();
      if (last !== undefined) this.files.push({ file, count: last.count + count });
      return true;
    }
    if (this.files.length >= maxResults) return false;
    if (this.#passed < offset) this.#passed += 1;
    else this.files.push({ file, count });
    return true;
  }

  /** Adds a match. Returns false if it exceeds the limits. */
  #add(match: LineMatch): boolean {
    const { maxResults, maxText, offset } = this.#options;
    if (this.matches.length >= maxResults) return false;
    if (this.#passed < offset) {
      this.#passed += 1;
      return true;
    }
    const size = textLength(match);
    if (size > maxText && this.matches.length === 0)
      throw new SearchError('result_too_large', { size, limit: maxText });
    this.#text += size;
    if (this.#text > maxText) return false;
    this.matches.push(match);
    return true;
  }
}
