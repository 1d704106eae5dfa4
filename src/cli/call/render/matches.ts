import { RE2JS } from 're2js';
import { printable } from '../../../runtime/printable.ts';
import { type Output, safeLine } from '../../terminal/output.ts';
import { type Fields, isFields, objects, texts } from './fields.ts';

interface FoundLine {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The lines of each file that matched, and those around them, by their numbers. */
type FoundLines = Map<string, Map<number, FoundLine>>;

/**
 * Prints matching lines as ripgrep does: below the name of their file on a terminal, with it in front of each line in a
 * pipe. Returns false if these are no matches of lines.
 */
export function showMatches(output: Output, matches: readonly Fields[], args: Fields): boolean {
  const files = collect(matches);
  if (files === undefined) return false;
  const highlight = highlighter(output, args);
  for (const [nth, [file, lines]] of [...files].entries()) {
    if (output.isTerminal) {
      if (nth > 0) output.line();
      output.line(output.style('magenta', printable(file)));
    }
    showLines(output, { file, lines, highlight });
  }
  return true;
}

interface ShownFile {
  readonly file: string;
  readonly lines: ReadonlyMap<number, FoundLine>;
  readonly highlight: (line: string) => string;
}

function showLines(output: Output, { file, lines, highlight }: ShownFile): void {
  const hasContext = [...lines.values()].some(({ isMatch }) => !isMatch);
  let last: number | undefined;
  for (const [number, { text, isMatch }] of [...lines].sort(([a], [b]) => a - b)) {
    if (hasContext && last !== undefined && number > last + 1) output.line('--');
    last = number;
    const mark = isMatch ? ':' : '-';
    const line = isMatch ? highlight(text) : shown(output, text);
    const start = output.isTerminal ? output.style('green', String(number)) : `${printable(file)}${mark}${number}`;
    output.line(`${start}${mark}${line}`);
  }
}

function collect(matches: readonly Fields[]): FoundLines | undefined {
  const files: FoundLines = new Map();
  const add = (file: unknown, number: number, found: FoundLine): void => {
    const lines = files.get(String(file)) ?? new Map<number, FoundLine>();
    files.set(String(file), lines);
    // A line that is around one match may be another.
    if (found.isMatch || !lines.has(number)) lines.set(number, found);
  };
  for (const match of matches) {
    for (const { number, text, context } of linesOf(match)) {
      add(match.file, number, { text, isMatch: true });
      for (const each of context) add(match.file, each.number, { text: each.text, isMatch: false });
    }
  }
  return [...files.values()].some((lines) => lines.size > 0) ? files : undefined;
}

interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/** Reads a match of `grep`, or the matches in one file of `search`. */
function linesOf(match: Fields): (NumberedLine & { readonly context: readonly NumberedLine[] })[] {
  if (typeof match.line_number === 'number' && typeof match.line_content === 'string') {
    const number = match.line_number;
    const before = texts(match.context_before) ?? [];
    const after = texts(match.context_after) ?? [];
    return [
      {
        number,
        text: match.line_content,
        context: [
          ...before.map((text, at) => ({ number: number - before.length + at, text })),
          ...after.map((text, at) => ({ number: number + 1 + at, text })),
        ],
      },
    ];
  }
  return (objects(match.matches) ?? []).flatMap(({ line_number: number, line, context }) => {
    if (typeof number !== 'number' || typeof line !== 'string') return [];
    const around = (Array.isArray(context) ? context.filter(isFields) : []).map((each) => ({
      number: Number(each.line_number),
      text: String(each.content),
    }));
    return [{ number, text: line, context: around.filter((each) => each.number !== number) }];
  });
}

/** Returns how a matching line is shown: with what the pattern of the call matches in colour. */
function highlighter(output: Output, args: Fields): (line: string) => string {
  const { pattern, case_insensitive: insensitive, regex, case_sensitive: sensitive } = args;
  const plain = (line: string): string => shown(output, line);
  if (!output.isTerminal || typeof pattern !== 'string') return plain;
  // `search` takes its pattern literally, and ignores case, unless it is told otherwise.
  const isSearch = 'root_path' in args;
  const flags = (isSearch ? sensitive !== true : insensitive === true) ? RE2JS.CASE_INSENSITIVE : 0;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(isSearch && regex !== true ? RE2JS.quote(pattern) : pattern, flags);
  } catch {
    return plain;
  }
  return (line) => {
    const matcher = compiled.matcher(line);
    let text = '';
    let end = 0;
    while (matcher.find()) {
      if (matcher.end() === matcher.start()) continue;
      text += plain(line.slice(end, matcher.start()));
      text += output.style('match', plain(line.slice(matcher.start(), matcher.end())));
      end = matcher.end();
    }
    return text + plain(line.slice(end));
  };
}

function shown(output: Output, line: string): string {
  return output.isTerminal ? safeLine(line) : line;
}
