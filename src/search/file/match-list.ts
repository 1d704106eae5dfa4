/** A line that matched. */
export interface LineMatch {
  /** Path of the file, relative to the root. */
  readonly file: string;
  /** Line number, counted from 1. */
  readonly lineNumber: number;
  /** The line without its LF. Bytes that are not UTF-8 are shown as U+FFFD. */
  readonly lineContent: string;
  /** Set if only the part of the line around the match is shown. */
  readonly lineTruncated?: true;
  readonly contextBefore: readonly string[];
  readonly contextAfter: readonly string[];
}

/** What a grep returns: lines that match, files with such lines, or how many of them each file has. */
export type GrepOutput = 'lines' | 'files' | 'counts';

/** A file with matches. */
export interface FileCount {
  /** Path relative to the root. */
  readonly file: string;
  /** Number of lines that matched. */
  readonly count: number;
}

/** Limits on the result of a grep. */
export interface MatchLimits {
  /** Number of matches, or of files if lines are only counted, to leave out at the beginning. */
  readonly offset: number;
  /** Maximum number of matches, or of files if lines are only counted. */
  readonly maxResults: number;
  /** Maximum number of UTF-16 code units of all shown lines together. */
  readonly maxText: number;
}

/**
 * Collects matches up to one more than may be returned; the extra one shows that the result is truncated. Matches that
 * the offset leaves out are only counted, as far as it is known which ones these are.
 */
export class MatchList {
  readonly matches: LineMatch[] = [];
  readonly #maxText: number;
  /** Maximum number of matches or files, including those to leave out. */
  readonly #maxCount: number;
  /** How many of the next matches are to be left out; undefined if that depends on matches that are not known here. */
  #toPass: number | undefined;
  #passed = 0;
  #passedInFile = 0;
  #text = 0;
  /** The current file and its number of matches, if lines are only counted. */
  #counted: FileCount | undefined;
  #files = 0;

  /**
   * Makes an empty list. `toPass` is the number of matches to leave out that are not in other lists, if it is known.
   */
  constructor({ offset, maxResults, maxText }: MatchLimits, toPass?: number) {
    this.#maxText = maxText;
    this.#maxCount = (toPass ?? offset) + maxResults;
    this.#toPass = toPass;
  }

  /** Whether the list takes no more: further matches can no longer be part of the result, unless it `overflows`. */
  get full(): boolean {
    return this.#passed + this.matches.length + this.#files > this.#maxCount || this.#text > this.#maxText;
  }

  /**
   * Whether there is too much text, some of which may have to be left out, so that further matches may be part of the
   * result.
   */
  get overflows(): boolean {
    return this.#toPass === undefined && this.#text > this.#maxText;
  }

  /** UTF-16 code units of all shown lines so far. */
  get text(): number {
    return this.#text;
  }

  /** Counts the next match without keeping it if it is known to be left out. Returns whether it is. */
  pass(): boolean {
    if (this.#toPass === undefined || this.#toPass === 0) return false;
    this.#toPass -= 1;
    this.#passed += 1;
    this.#passedInFile += 1;
    return true;
  }

  /** Returns how many matches were left out since the last call. */
  takePassed(): number {
    const passed = this.#passedInFile;
    this.#passedInFile = 0;
    return passed;
  }

  /** Notes that an unknown number of matches comes next that are not in this list. */
  skipUnknown(): void {
    if (this.#toPass !== 0) this.#toPass = undefined;
  }

  /** Removes the matches from number `from` on, where there were `text` code units of shown lines. */
  drop(from: number, text: number): void {
    this.matches.length = from;
    this.#text = text;
  }

  add(match: LineMatch): void {
    this.matches.push(match);
    this.#text += textLength(match);
  }

  /** Counts a match of the current file instead of keeping it. */
  count(file: string): void {
    this.#counted = { file, count: (this.#counted?.count ?? 0) + 1 };
  }

  /** Ends the current file. Returns it if matches were counted. */
  endFile(): FileCount | undefined {
    const counted = this.#counted;
    if (counted === undefined) return undefined;
    this.#counted = undefined;
    this.#files += 1;
    return counted;
  }

  /** Accounts for a context line that was appended to a match already in the list. */
  grow(line: string): void {
    this.#text += line.length;
  }
}

/** Returns the number of UTF-16 code units of a match with its context. */
export function textLength(match: LineMatch): number {
  let length = match.lineContent.length;
  for (const line of match.contextBefore) length += line.length;
  for (const line of match.contextAfter) length += line.length;
  return length;
}
