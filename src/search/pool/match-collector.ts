import { type MatchLimits, MatchList } from '../file/match-list.ts';
import { type PackedMatches, packMatches } from '../file/packed-matches.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

interface FileCounts {
  /** Files that were searched. */
  readonly searched: number;
  /** Files and folders that could not be read, and files that are too large. */
  readonly skipped: number;
}

/** A file that matched, and what was looked at since the one before it, this one included. */
interface MatchedFile extends FileCounts {
  readonly matches: PackedMatches;
}

/** What a search for lines finds in a stretch. The counts of its own are of what comes after the last file that matched. */
export interface LineResults extends FileCounts {
  readonly files: readonly MatchedFile[];
  /** Characters of all shown lines. */
  readonly text: number;
  /** It is a part of a file, and its first line has number 1, wherever the part begins. */
  readonly part?: SearchedPart;
}

interface SearchedPart {
  readonly isFirst: boolean;
  /** How many lines begin in it. */
  readonly lines: number;
}

/** Gathers what a task finds and what it leaves to others, in path order. */
export class LineCollector {
  readonly results: WorkResult<LineResults>[] = [];
  /** Where matches go; a file is ended with `count`. */
  readonly list: MatchList;
  #files: MatchedFile[] = [];
  #counts = { searched: 0, skipped: 0 };
  /** How much of the list is in `#files`, and how much text of it is in the pieces. */
  #ended = 0;
  #flushedText = 0;

  constructor(limits: MatchLimits) {
    this.list = new MatchList(limits);
  }

  /** Counts a file, or a folder that could not be read, and takes what was added to the list as its matches. */
  count(as: 'searched' | 'skipped' | 'nothing'): void {
    if (as !== 'nothing') this.#counts[as] += 1;
    // Hardly any file has a match.
    if (this.list.matches.length > this.#ended) this.#endFile();
  }

  #endFile(): void {
    const matches = this.list.matches.slice(this.#ended);
    this.#ended += matches.length;
    this.#files.push({ matches: packMatches(matches), ...this.#counts });
    this.#counts = { searched: 0, skipped: 0 };
  }

  /** Notes here, after all that was found so far, what others have to do, or that the search broke off. */
  leave(result: WorkUnit | { kind: 'unfinished' }): void {
    this.flush();
    this.results.push(result);
  }

  flush(part?: SearchedPart): void {
    const { searched, skipped } = this.#counts;
    if (this.#files.length === 0 && searched === 0 && skipped === 0 && part === undefined) return;
    const text = this.list.text - this.#flushedText;
    this.results.push({ kind: 'found', found: { files: this.#files, text, searched, skipped, ...(part && { part }) } });
    this.#files = [];
    this.#counts = { searched: 0, skipped: 0 };
    this.#flushedText = this.list.text;
  }
}
