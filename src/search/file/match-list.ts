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
  /** Maximum number of matches, or of files if lines are only counted. */
  readonly maxResults: number;
  /** Maximum number of UTF-16 code units of all shown lines together. */
  readonly maxText: number;
}

/** Collects matches up to one more than may be returned; the extra one shows that the result is truncated. */
export class MatchList {
  readonly matches: LineMatch[] = [];
  readonly #limits: MatchLimits;
  #text = 0;
  /** The current file and its number of matches, if lines are only counted. */
  #counted: FileCount | undefined;
  #files = 0;

  constructor(limits: MatchLimits) {
    this.#limits = limits;
  }

  /** Whether further matches can no longer be part of the result. */
  get full(): boolean {
    return this.matches.length + this.#files > this.#limits.maxResults || this.#text > this.#limits.maxText;
  }

  /** UTF-16 code units of all shown lines so far. */
  get text(): number {
    return this.#text;
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
