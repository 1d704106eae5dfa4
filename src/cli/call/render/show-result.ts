import type { CallResult, ContentBlock } from '../../../client/mcp-client.ts';
import { printable } from '../../../runtime/printable.ts';
import { type Output, printNote } from '../../terminal/output.ts';
import { tableLines } from '../../terminal/table.ts';
import { showBytes, showContent, showFiles, showText, showUnifiedDiff } from './content.ts';
import { type Fields, inline, isFields, objects, texts } from './fields.ts';
import { showListing } from './listing.ts';
import { showMatches } from './matches.ts';

/** What is said beside a result, not in it. */
const NOTES = ['truncated', 'timed_out', 'hint', 'ignored', 'next', 'more'] as const;

/**
 * Prints the result of a call as a person would like to read it: by what it looks like, so that it does not matter which
 * dialect, or whose server, the tool belongs to. What there is to know besides goes to stderr.
 */
export function showResult(output: Output, { content = [], structuredContent }: CallResult, args: Fields): void {
  const media = content.find(({ type, data }) => (type === 'image' || type === 'audio') && data !== undefined);
  if (media !== undefined) showBytes(output, Buffer.from(media.data ?? '', 'base64'), media.mimeType);
  else if (structuredContent === undefined) showText(output, withBreak(textOf(content)));
  else {
    showFields(output, structuredContent, args);
    for (const note of notesOf(structuredContent)) printNote(`ringfence: ${note}`);
  }
}

/** Returns the text of a result. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('\n');
}

function showFields(output: Output, result: Fields, args: Fields): void {
  const listed = objectsWith(result.entries, 'name');
  const names = texts(result.entries) ?? texts(result.files);
  const found = objects(result.matches);
  const counts = objects(result.counts);
  const read = objectsWith(result.files, 'path');
  const roots = objects(result.roots);
  if (listed !== undefined) showListing(output, listed);
  else if (names !== undefined) showNames(output, names);
  else if (counts !== undefined) showCounts(output, counts);
  else if (read !== undefined) showFiles(output, read);
  else if (found !== undefined) showFound(output, found, args);
  else if (typeof result.content === 'string') showContent(output, result);
  else if (typeof result.diff === 'string') showChange(output, result, result.diff);
  else if (roots !== undefined) showTable(output, roots);
  else showFacts(output, result);
}

/** Returns a list of objects that all have a name of some kind; undefined for anything else. */
function objectsWith(value: unknown, key: string): readonly Fields[] | undefined {
  const list = objects(value);
  return list?.every((each) => typeof each[key] === 'string') ? list : undefined;
}

function showCounts(output: Output, counts: readonly Fields[]): void {
  for (const { file, count } of counts) output.line(`${output.style('magenta', inline(file))}:${inline(count)}`);
}

function showChange(output: Output, { diff: _, ...facts }: Fields, diff: string): void {
  showFacts(output, facts);
  if (diff !== '') showUnifiedDiff(output, diff);
}

function showNames(output: Output, names: readonly string[]): void {
  for (const name of names) output.line(printable(name));
}

function showFound(output: Output, matches: readonly Fields[], args: Fields): void {
  if (matches.length === 0) output.line(output.style('dim', 'no match'));
  else if (matches.every(({ path }) => typeof path === 'string')) {
    for (const { path, type } of matches) {
      const name = printable(String(path));
      output.line(type === 'directory' ? output.style('cyan', `${name}/`) : name);
    }
  } else if (!showMatches(output, matches, args)) showTable(output, matches);
}

/** Prints fields, one a line, and lists of objects as tables below. */
function showFacts(output: Output, result: Fields): void {
  const facts = Object.entries(result).filter(([key]) => !isNote(key));
  const width = Math.max(0, ...facts.map(([key]) => key.length));
  for (const [key, value] of facts) {
    const rows = objects(value);
    if (rows !== undefined && rows.length > 0) {
      output.line(output.style('bold', key));
      showTable(output, rows);
    } else output.line(`${output.style('dim', key.padEnd(width))}  ${inline(value)}`);
  }
}

function showTable(output: Output, rows: readonly Fields[]): void {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const [head = '', ...lines] = tableLines([
    keys,
    ...rows.map((row) => keys.map((key) => (row[key] === undefined ? '' : inline(row[key])))),
  ]);
  output.line(output.style('bold', head));
  for (const line of lines) output.line(line);
}

function isNote(key: string): boolean {
  return NOTES.some((note) => note === key);
}

function notesOf({ truncated, timed_out: timedOut, hint, ignored, next, more }: Fields): string[] {
  const rest = isFields(next)
    ? ` To go on: ${Object.entries(next)
        .map(([key, value]) => `${key}=${inline(value)}`)
        .join(' ')}`
    : '';
  return [
    ...(typeof hint === 'string' ? [printable(hint)] : []),
    ...(timedOut === true ? ['stopped for time, so there may be more'] : []),
    ...(typeof ignored === 'number' && ignored > 0 ? [`${ignored} ignored entries were skipped`] : []),
    ...(truncated === true || more === true || rest !== '' ? [`this is not all.${rest}`] : []),
  ];
}

function withBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
