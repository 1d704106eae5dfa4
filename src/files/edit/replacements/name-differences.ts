import { diffLines } from '../diff/diff-lines.ts';
import { isSameMark, isSpace } from './loose-text.ts';

const MAX_QUOTED = 60;
/** The most tokens of a line that are compared. */
const MAX_TOKENS = 400;

/** Collects how a passage of a file differs from a text that was looked for, by kind, and words it. */
export class Differences {
  readonly #found = new Map<string, { first: string; lines: Set<number> }>();

  /** Notes a difference of a kind at a line of the file. */
  note(kind: string, line: number, detail: string): void {
    const known = this.#found.get(kind);
    if (known === undefined) this.#found.set(kind, { first: `line ${line}: ${detail}`, lines: new Set([line]) });
    else known.lines.add(line);
  }

  /** Returns one sentence part for each kind, with its first place. */
  describe(): string[] {
    return [...this.#found].map(([kind, { first, lines }]) => {
      const more = lines.size - 1;
      return `${kind} (${first}${more === 0 ? '' : `; ${more} more ${more === 1 ? 'line' : 'lines'}`})`;
    });
  }

  /**
   * Compares two texts that are the same but for white space, case, quotes and dashes. `line` is the first line of
   * `found`.
   */
  compareAlike(found: string, wanted: string, line: number): void {
    let i = 0;
    let j = 0;
    while (i < found.length || j < wanted.length) {
      const inFile = spacesAt(found, i);
      const inWanted = spacesAt(wanted, j);
      if (inFile !== inWanted) this.#noteSpaces(inFile, inWanted, line, i === 0 && j === 0);
      line += countBreaks(inFile);
      i += inFile.length;
      j += inWanted.length;
      const one = found[i];
      const other = wanted[j];
      if (one !== undefined && other !== undefined && one !== other) {
        const kind = isSameMark(one, other) ?? 'letter case';
        const detail = kind === 'letter case' ? [wordAt(found, i), wordAt(wanted, j)] : [one, other];
        this.note(kind, line, `${quoted(detail[0] ?? '')} in the file, ${quoted(detail[1] ?? '')} in old_text`);
      }
      i++;
      j++;
    }
  }

  /** Compares two lines that may differ in words. What stands in the file around `wanted` does not count. */
  compareWords(found: string, wanted: string, line: number): void {
    const inFile = tokens(found);
    const inWanted = tokens(wanted);
    for (const { oldStart, oldEnd, newStart, newEnd } of diffLines(inFile, inWanted)) {
      const atEdge = newStart === newEnd && (newStart === 0 || newStart === inWanted.length);
      if (atEdge) continue;
      const [one, other] = [inFile.slice(oldStart, oldEnd).join(''), inWanted.slice(newStart, newEnd).join('')];
      if (one.trim() === other.trim()) {
        this.note('white space', line, `${spaces(one)} in the file, ${spaces(other)} in old_text`);
      } else if (one === '') this.note('words', line, `${quoted(other)} is only in old_text`);
      else if (other === '') this.note('words', line, `${quoted(one)} is only in the file`);
      else this.note('words', line, `${quoted(one)} in the file, ${quoted(other)} in old_text`);
    }
  }

  #noteSpaces(inFile: string, inWanted: string, line: number, first: boolean): void {
    const breaks = countBreaks(inFile);
    if (breaks !== countBreaks(inWanted)) {
      const kind = breaks > 0 && inWanted.includes('\n') ? 'empty lines' : 'line breaks';
      this.note(kind, line, `${breaks} in the file, ${countBreaks(inWanted)} in old_text`);
      return;
    }
    if (breaks === 0) {
      this.note(first ? 'indentation' : 'spaces', line, versus(inFile, inWanted));
      return;
    }
    const [fileParts, wantedParts] = [inFile.split('\n'), inWanted.split('\n')];
    for (const [index, part] of fileParts.entries()) {
      const other = wantedParts[index] ?? '';
      if (part === other) continue;
      this.note(index === breaks ? 'indentation' : 'trailing spaces', line + index, versus(part, other));
    }
  }
}

/** Quotes a piece of text for a message, cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).toWellFormed()}…` : text);
}

function versus(inFile: string, inWanted: string): string {
  return `${spaces(inFile)} in the file, ${spaces(inWanted)} in old_text`;
}

/** Names white space: "2 tabs", "4 spaces", "nothing". */
function spaces(text: string): string {
  if (text === '') return 'nothing';
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const named = [...counts].map(([character, count]) => {
    const name =
      SPACE_NAMES[character] ?? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    return `${count} ${name}${count === 1 || name.startsWith('U') ? '' : 's'}`;
  });
  return named.slice(0, 3).join(' and ');
}

const SPACE_NAMES: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\t': 'tab',
  '\r': 'carriage return',
  '\n': 'line break',
  '\u00a0': 'no-break space',
};

function spacesAt(text: string, from: number): string {
  let end = from;
  while (end < text.length && isSpace(text[end])) end++;
  return text.slice(from, end);
}

function countBreaks(text: string): number {
  return text.split('\n').length - 1;
}

function wordAt(text: string, at: number): string {
  const from = Math.max(at - MAX_QUOTED, 0);
  const before = /[\p{L}\p{N}_]*$/u.exec(text.slice(from, at))?.[0] ?? '';
  return before + (/^[\p{L}\p{N}_]*/u.exec(text.slice(at, at + MAX_QUOTED))?.[0] || (text[at] ?? ''));
}

function tokens(line: string): string[] {
  return (line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []).slice(0, MAX_TOKENS);
}
