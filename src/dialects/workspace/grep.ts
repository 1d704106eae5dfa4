import * as z from 'zod';
import { printable } from '../../runtime/printable.ts';
import { type FileCount, type GrepResult, type LineMatch, grep as search } from '../../search/index.ts';
import { lengthIn, type ResultForm } from '../../tools/result-form.ts';
import { defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
import {
  exclude,
  globProblem,
  includeIgnored,
  maxDepth,
  maxResults,
  offset,
  outcomeLine,
  outcomeOf,
  rootName,
  SUBJECT,
  searchOutcome,
  startFolder,
  timeoutSeconds,
} from './shared-schemas.ts';

const match = z.object({
  file: z.string(),
  line_number: z.int(),
  line_content: z.string(),
  line_truncated: z.literal(true).optional(),
  context_before: z.array(z.string()),
  context_after: z.array(z.string()),
});
type Matches = JsonList<z.output<typeof match>>;

const count = z.object({ file: z.string(), count: z.int() });

export const grep = defineTool({
  name: 'grep',
  description:
    'Search file contents line by line by regular expression (RE2). Hidden files are searched, binary ones not, those that .gitignore or .ignore rule out and .git only with include_ignored. Result paths are relative to the root.',
  needs: ['grep'],
  effect: 'read',
  paged: true,
  ownTimeout: true,
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    pattern: z.string(),
    path: startFolder,
    glob_filter: z.string().optional().describe('*.go (any depth) or src/**/*.ts'),
    type: z.string().optional().describe('Like ts, py (as ripgrep)'),
    exclude,
    include_ignored: includeIgnored,
    output: z.enum(['lines', 'files', 'counts']).default('lines'),
    case_insensitive: z.boolean().default(false),
    context_lines: z.int().min(0).max(100).default(0),
    max_results: maxResults,
    offset,
    timeout_seconds: timeoutSeconds,
    max_depth: maxDepth,
  }),
  output: z.object({
    matches: z.array(match),
    files: z.array(z.string()).optional(),
    counts: z.array(count).optional(),
    files_searched: z.int(),
    ...searchOutcome,
  }),
  run: async (args, context) => {
    const root = context.root(args.root);
    const found = await search(
      root,
      {
        pattern: args.pattern,
        path: root.parse(args.path),
        globFilter: args.glob_filter,
        type: args.type,
        exclude: args.exclude,
        ignore: !args.include_ignored,
        output: args.output,
        caseInsensitive: args.case_insensitive,
        contextLines: args.context_lines,
        maxResults: args.max_results,
        offset: args.offset,
        timeoutSeconds: args.timeout_seconds,
        maxDepth: args.max_depth,
      },
      context.search,
      context,
    );
    const { results } = context;
    const list = results.mode === 'text' ? listText(args, found, results) : listJson(args, found, results.maxChars);
    return {
      matches: [],
      [LISTS[args.output]]: list,
      files_searched: found.filesSearched,
      ...outcomeOf({
        returned: list.length,
        offset: args.offset,
        found,
        hint: (ignored) => hint(args, found, ignored),
      }),
    };
  },
  readerText: (result, { output }) => textOf(result[LISTS[output]]) + outcomeLine(result),
  summary: (result, { output }) => `${result.total_matches} ${SUMMARIES[output]}${outcomeLine(result)}`,
});

/** The field of the result that has the list. */
const LISTS = { lines: 'matches', files: 'files', counts: 'counts' } as const;
const SUMMARIES = { lines: 'matches', files: 'files', counts: 'files' } as const;

type Output = keyof typeof LISTS;

interface Filters {
  readonly pattern: string;
  readonly path: string;
  readonly glob_filter?: string | undefined;
  readonly type?: string | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** Says why nothing was found, as far as that can be known. */
function hint(args: Filters, { filesSearched, filesSeen, pathIsFile, timedOut }: GrepResult, ignored: string): string {
  const searched = `no match in ${filesSearched} ${filesSearched === 1 ? 'file' : 'files'}`;
  if (timedOut) return searched + ignored;
  const { pattern, path, glob_filter: filter, type, exclude = [] } = args;
  if (filesSearched > 0)
    return `${searched}${LINE_BREAK.test(pattern) ? '; lines are matched one by one, without their \\n' : ''}${ignored}`;
  if (filesSeen === 0) return `no files to search there${ignored}`;
  const used = Object.entries({ glob_filter: filter, type, exclude: exclude[0] }).filter(
    ([, value]) => value !== undefined,
  );
  if (used.length === 0) return `${searched}: what is there is binary or unreadable${ignored}`;
  const names = used.map(([name]) => name).join(', ');
  const problem =
    (filter && globProblem('glob_filter', filter, path)) || (pathIsFile ? 'path is a file: leave them out' : undefined);
  return `${searched}: none of ${filesSeen} passes ${names}${problem ? `; ${problem}` : ''}${ignored}`;
}

/** A line break in a pattern, as a character or as an escape sequence. */
const LINE_BREAK = /\n|(?:^|[^\\])(?:\\\\)*\\n/;

function listText({ output }: { output: Output }, found: GrepResult, form: ResultForm): TextList {
  const text = new TextList(form.maxChars, lengthIn(form));
  if (output === 'lines') return addMatches(text, found.matches);
  for (const { file, count } of found.files)
    if (!text.add(output === 'files' ? `${file}\n` : `${file}:${count}\n`)) break;
  return text;
}

function listJson({ output }: { output: Output }, found: GrepResult, maxChars: number | undefined) {
  if (output === 'lines') return matchJson(found.matches, maxChars);
  const list = new JsonList<string | FileCount>(maxChars);
  for (const { file, count } of found.files) if (!list.add(output === 'files' ? file : { file, count })) break;
  return list;
}

function matchJson(found: readonly LineMatch[], maxChars: number | undefined): Matches {
  const matches: Matches = new JsonList(maxChars);
  let file = '';
  let quoted = '';
  for (const match of found) {
    // Matches of one file are adjacent, so its name is escaped only once.
    if (match.file !== file) {
      file = match.file;
      quoted = JSON.stringify(file);
    }
    if (!matches.addJson(`{"file":${quoted},${lineJson(match)}}`)) break;
  }
  return matches;
}

function lineJson({ lineNumber, lineContent, lineTruncated, contextBefore, contextAfter }: LineMatch): string {
  const cut = lineTruncated ? ',"line_truncated":true' : '';
  const context = `"context_before":${linesJson(contextBefore)},"context_after":${linesJson(contextAfter)}`;
  return `"line_number":${lineNumber},"line_content":${JSON.stringify(lineContent)}${cut},${context}`;
}

function linesJson(lines: readonly string[]): string {
  return lines.length === 0 ? '[]' : JSON.stringify(lines);
}

/**
 * Formats matches as `rg --heading -n` does: the path, then `12:line` and `13-context`, each line of a file once, `--`
 * where lines are left out between context, an empty line between files.
 */
function addMatches(text: TextList, found: readonly LineMatch[]): TextList {
  let last: { readonly file: string; readonly line: number } | undefined;
  for (const [index, match] of found.entries()) {
    const { file, lineNumber, lineContent, lineTruncated, contextBefore, contextAfter } = match;
    const following = found[index + 1];
    const shown = last?.file === file ? last.line : 0;
    const before = numbered(contextBefore, lineNumber - contextBefore.length).slice(
      Math.max(0, shown - lineNumber + contextBefore.length + 1),
    );
    const after = numbered(contextAfter, lineNumber + 1);
    if (following?.file === file) after.splice(following.lineNumber - lineNumber - 1);
    const isGap = contextBefore.length + contextAfter.length > 0 && shown > 0 && lineNumber - before.length > shown + 1;
    const heading = shown > 0 ? (isGap ? ['--'] : []) : [...(last === undefined ? [] : ['']), printable(file)];
    if (
      !text.add(
        `${[...heading, ...before, `${lineNumber}:${lineContent}${lineTruncated ? ` [part of a longer line: read_file offset_lines ${lineNumber}]` : ''}`, ...after].join('\n')}\n`,
      )
    )
      break;
    last = { file, line: lineNumber + after.length };
  }
  return text;
}

function numbered(context: readonly string[], first: number): string[] {
  return context.map((line, index) => `${first + index}-${line}`);
}
