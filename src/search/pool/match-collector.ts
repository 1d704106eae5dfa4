import { type MatchLimits, MatchList } from '../file/match-list.ts';
import { type PackedMatches, packMatches } from '../file/packed-matches.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

interface FileCounts {
  /** Number of files searched. */
  readonly searched: number;
  /** Number of files and folders that could not be read, and of files that are too large. */
  readonly skipped: number;
}

/** A file with matches, and counts since the previous such file, including this one. */
interface MatchedFile extends FileCounts {
  readonly matches: PackedMatches;
}

/** What a grep task found in a work unit. Its own counts cover what follows the last file with matches. */
export interface GrepFound extends FileCounts {
  readonly files: readonly MatchedFile[];
  /** UTF-16 code units of all shown lines. */
  readonly text: number;
  /** Set if the unit is a range of a large file. Line numbers then start from 1 at the range. */
  readonly part?: SearchedPart;
}

interface SearchedPart {
  readonly isFirst: boolean;
  /** Number of lines that start in the range. */
  readonly lines: number;
}

/** Collects the results of a grep task, in path order: files with matches, counts, and units that are left to do. */
export class MatchCollector {
  readonly results: WorkResult<GrepFound>[] = [];
  /** Receives the matches of the current file; `count` ends the file. */
  readonly list: MatchList;
  #files: MatchedFile[] = [];
  #counts = { searched: 0, skipped: 0 };
  /** How many matches of the list are in `#files`, and how much of its text is in `results`. */
  #ended = 0;
  #flushedText = 0;

  constructor(limits: MatchLimits) {
    this.list = new MatchList(limits);
  }

  /** Counts a file, or a folder that could not be read, and assigns to it the matches added since the last call. */
  count(as: 'searched' | 'skipped' | 'nothing'): void {
    if (as !== 'nothing') this.#counts[as] += 1;
    // Hardly any file matches.
    if (this.list.matches.length > this.#ended) this.#endFile();
  }

  #endFile(): void {
    const matches = this.list.matches.slice(this.#ended);
    this.#ended += matches.length;
    this.#files.push({ matches: packMatches(matches), ...this.#counts });
    this.#counts = { searched: 0, skipped: 0 };
  }

  /** Appends, after everything found so far, a unit that is left to do or the mark that the task stopped early. */
  leave(result: WorkUnit | { kind: 'unfinished' }): void {
    this.flush();
    this.results.push(result);
  }

  /** Moves what was found so far to `results`. */
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
