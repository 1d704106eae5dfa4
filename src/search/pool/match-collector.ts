import { type FileCount, type MatchLimits, MatchList } from '../file/match-list.ts';
import { type PackedMatches, packMatches } from '../file/packed-matches.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

/** What a grep met on its way. */
export interface FileCounts {
  /** Number of files searched. */
  readonly searched: number;
  /** Number of files and folders that could not be read, and of files that are too large. */
  readonly skipped: number;
  /** Number of files seen, before any filter but ignore rules. */
  readonly seen: number;
  /** Number of files and folders that ignore rules leave out. */
  readonly ignored: number;
}

/** A file with matches, and counts since the previous such file, including this one. */
interface MatchedFile {
  /** Its matches, or their number if lines are only counted. */
  readonly matches: PackedMatches | FileCount;
  /** Number of matches before them that are not sent because the offset leaves them out. */
  readonly passed: number;
  readonly counts: FileCounts;
}

/** What a grep task found in a work unit. */
export interface GrepFound {
  readonly files: readonly MatchedFile[];
  /** Counts of what follows the last file with matches. */
  readonly counts: FileCounts;
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

const NO_COUNTS: FileCounts = { searched: 0, skipped: 0, seen: 0, ignored: 0 };

/** Collects the results of a grep task, in path order: files with matches, counts, and units that are left to do. */
export class MatchCollector {
  readonly results: WorkResult<GrepFound>[] = [];
  /** Receives the matches of the current file; `endFile` ends the file. */
  readonly list: MatchList;
  #files: MatchedFile[] = [];
  #counts: { -readonly [K in keyof FileCounts]: number } = { ...NO_COUNTS };
  /** How many matches of the list are in `#files`, their text, and how much of it is in `results`. */
  #ended = 0;
  #endedText = 0;
  #flushedText = 0;

  /** `toPass` is the number of matches to leave out at the beginning, if it is known. */
  constructor(limits: MatchLimits, toPass: number | undefined) {
    this.list = new MatchList(limits, toPass);
  }

  /**
   * Ends a file, or a folder that could not be read: assigns to it the matches added since the last call, and counts it
   * unless it is binary or not the first part of a file.
   */
  endFile(as: 'searched' | 'skipped' | undefined): void {
    if (as !== undefined) this.#counts[as] += 1;
    // Hardly any file matches.
    const passed = this.list.takePassed();
    if (this.list.matches.length > this.#ended || passed > 0) {
      const matches = this.list.matches.slice(this.#ended);
      this.#ended += matches.length;
      this.#endedText = this.list.text;
      this.#addFile(packMatches(matches), passed);
    }
    const counted = this.list.endFile();
    if (counted !== undefined) this.#addFile(counted, 0);
  }

  /** Drops the matches added since the last call of `endFile`. */
  drop(): void {
    this.list.drop(this.#ended, this.#endedText);
  }

  /** Counts files before any filter, or entries that ignore rules leave out. */
  add(as: 'seen' | 'ignored', entries: number): void {
    this.#counts[as] += entries;
  }

  #addFile(matches: PackedMatches | FileCount, passed: number): void {
    this.#files.push({ matches, passed, counts: this.#counts });
    this.#counts = { ...NO_COUNTS };
  }

  /** Appends, after everything found so far, a unit that is left to do or the mark that the task stopped early. */
  leave(result: WorkUnit | { kind: 'unfinished' }): void {
    this.flush();
    this.results.push(result);
    this.list.skipUnknown();
  }

  /** Moves what was found so far to `results`. */
  flush(part?: SearchedPart): void {
    const counts = this.#counts;
    const isIdle = Object.values(counts).every((count) => count === 0);
    if (this.#files.length === 0 && isIdle && part === undefined) return;
    const text = this.list.text - this.#flushedText;
    this.results.push({ kind: 'found', found: { files: this.#files, text, counts, ...(part && { part }) } });
    this.#files = [];
    this.#counts = { ...NO_COUNTS };
    this.#flushedText = this.list.text;
  }
}
