import { type LineMatch, type MatchLimits, textOf } from '../file/match-list.ts';
import { unpackMatches } from '../file/packed-matches.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { LineResults } from './match-collector.ts';
import { OrderedSearch, type SearchOutcome } from './ordered-search.ts';
import type { PooledSearch } from './search-pool.ts';

interface LineSearchOptions extends MatchLimits {
  readonly workers: number;
  /** Told how many files are done. */
  progress(files: number): void;
}

/** Runs one search for lines on the pool and puts the result together. */
export class LineSearch {
  readonly matches: LineMatch[] = [];
  /** Files that were searched, that matched, and files and folders that could not be read, up to the last match. */
  readonly counts = { searched: 0, matched: 0, skipped: 0 };

  readonly #search: PooledSearch<LineResults>;
  readonly #options: LineSearchOptions;
  #text = 0;
  /** Of the large file whose parts come one after the other: lines so far, and if any of them matched. */
  #linesBefore = 0;
  #hasMatched = false;

  constructor(search: PooledSearch<LineResults>, options: LineSearchOptions) {
    this.#search = search;
    this.#options = options;
  }

  /** Returns when it is over. Raises what a worker raises, and `result_too_large` if not even one match fits. */
  run(): Promise<SearchOutcome> {
    const { workers, maxText } = this.#options;
    return new OrderedSearch(this.#search, {
      workers,
      maxWaitingWeight: maxText,
      weigh: ({ text }) => text,
      take: (found) => this.#take(found),
    }).run();
  }

  #take({ files, searched, skipped, part }: LineResults): boolean {
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

  /** False if the match does not fit in the result. */
  #add(match: LineMatch): boolean {
    const { maxResults, maxText } = this.#options;
    if (this.matches.length >= maxResults) return false;
    const size = textOf(match);
    if (size > maxText && this.matches.length === 0)
      throw new SearchError('result_too_large', { size, limit: maxText });
    this.#text += size;
    if (this.#text > maxText) return false;
    this.matches.push(match);
    return true;
  }
}
