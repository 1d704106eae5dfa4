import type { LineMatch } from './match-list.ts';

const LF = '\n';
/** Numbers per match: line number, whether it is truncated, and the number of context lines before and after it. */
const NUMBERS = 4;
/** Shared by all matches without context. */
const NONE: readonly string[] = Object.freeze([]);

/**
 * The matches of one file, packed into one string and one array: structured cloning of an object per match takes many
 * times as long.
 */
export interface PackedMatches {
  readonly file: string;
  /** All shown lines in order, joined by LF, which no line contains. */
  readonly text: string;
  readonly numbers: readonly number[];
}

/** Packs matches of one file. */
export function packMatches(matches: readonly LineMatch[]): PackedMatches {
  const lines: string[] = [];
  const numbers: number[] = [];
  for (const { lineNumber, lineContent, lineTruncated, contextBefore, contextAfter } of matches) {
    lines.push(...contextBefore, lineContent, ...contextAfter);
    numbers.push(lineNumber, lineTruncated ? 1 : 0, contextBefore.length, contextAfter.length);
  }
  return { file: matches[0]?.file ?? '', text: lines.join(LF), numbers };
}

/** Restores packed matches and adds `linesBefore` to their line numbers. */
export function unpackMatches({ file, text, numbers }: PackedMatches, linesBefore: number): LineMatch[] {
  const lines = text.split(LF);
  const matches: LineMatch[] = [];
  for (let at = 0, line = 0; at < numbers.length; at += NUMBERS) {
    const [lineNumber = 0, truncated, before = 0, after = 0] = numbers.slice(at, at + NUMBERS);
    const here = line + before;
    const end = here + 1 + after;
    matches.push({
      file,
      lineNumber: lineNumber + linesBefore,
      lineContent: lines[here] as string,
      ...(truncated === 1 ? { lineTruncated: true as const } : {}),
      contextBefore: before === 0 ? NONE : lines.slice(line, here),
      contextAfter: after === 0 ? NONE : lines.slice(here + 1, end),
    });
    line = end;
  }
  return matches;
}
