import type { LineMatch } from './match-list.ts';

const LF = '\n';
/** Numbers for each match: its line, whether it is cut, and how many lines are before and after it. */
const NUMBERS = 4;
/** Most matches are shown without lines around them. */
const NONE: readonly string[] = Object.freeze([]);

/** The matches of one file in a form that is sent to another thread at a fraction of what an object for each costs. */
export interface PackedMatches {
  readonly file: string;
  /** All lines that are shown, in order, joined by what no line has. */
  readonly text: string;
  readonly numbers: readonly number[];
}

/** At least one match, all of the same file. */
export function packMatches(matches: readonly LineMatch[]): PackedMatches {
  const lines: string[] = [];
  const numbers: number[] = [];
  for (const { lineNumber, lineContent, lineTruncated, contextBefore, contextAfter } of matches) {
    lines.push(...contextBefore, lineContent, ...contextAfter);
    numbers.push(lineNumber, lineTruncated ? 1 : 0, contextBefore.length, contextAfter.length);
  }
  return { file: matches[0]?.file ?? '', text: lines.join(LF), numbers };
}

/** With so many added to the numbers of their lines. */
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
