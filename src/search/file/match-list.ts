/** One line that matched. */
export interface LineMatch {
  /** Relative to the root. */
  readonly file: string;
  /** Counted from 1. */
  readonly lineNumber: number;
  /** Without its LF; bytes that are not UTF-8 show as U+FFFD. */
  readonly lineContent: string;
  /** Only part of the line is shown, around the match. */
  readonly lineTruncated?: true;
  readonly contextBefore: readonly string[];
  readonly contextAfter: readonly string[];
}

export interface MatchLimits {
  readonly maxResults: number;
  /** How many characters the shown lines may have in all. */
  readonly maxText: number;
}

/** Gathers matches until there is one more than may be returned: that one tells that there was more. */
export class MatchList {
  readonly matches: LineMatch[] = [];
  readonly #limits: MatchLimits;
  #text = 0;

  constructor(limits: MatchLimits) {
    this.#limits = limits;
  }

  /** Nothing that is added from now on can be part of the result. */
  get full(): boolean {
    return this.matches.length > this.#limits.maxResults || this.#text > this.#limits.maxText;
  }

  /** Characters of all lines so far. */
  get text(): number {
    return this.#text;
  }

  add(match: LineMatch): void {
    this.matches.push(match);
    this.#text += textOf(match);
  }

  /** Counts a line of context that was added to a match after it was found. */
  grow(line: string): void {
    this.#text += line.length;
  }
}

export function textOf(match: LineMatch): number {
  let length = match.lineContent.length;
  for (const line of match.contextBefore) length += line.length;
  for (const line of match.contextAfter) length += line.length;
  return length;
}
