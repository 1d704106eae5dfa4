import * as z from 'zod';
import { type LineMatch, grep as search } from '../../search/index.ts';
import { defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
import {
  maxDepth,
  maxResults,
  outcomeLine,
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

export const grep = defineTool({
  name: 'grep',
  description:
    'Search file contents by regular expression (RE2/Go syntax), one match a line, in path order. Hidden files are searched, binary files are not, symlinks are not followed. File paths in results are relative to the root.',
  needs: ['grep'],
  effect: 'read',
  paged: true,
  ownTimeout: true,
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    pattern: z.string(),
    path: startFolder,
    glob_filter: z.string().optional().describe('Only files like *.go (any depth) or src/**/*.ts'),
    case_insensitive: z.boolean().default(false),
    context_lines: z.int().min(0).max(100).default(0),
    max_results: maxResults,
    timeout_seconds: timeoutSeconds,
    max_depth: maxDepth,
  }),
  output: z.object({
    matches: z.array(match),
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
        caseInsensitive: args.case_insensitive,
        contextLines: args.context_lines,
        maxResults: args.max_results,
        timeoutSeconds: args.timeout_seconds,
        maxDepth: args.max_depth,
      },
      context.search,
      context,
    );
    const { mode, maxChars } = context.results;
    const matches = mode === 'text' ? matchText(found.matches, maxChars) : matchJson(found.matches, maxChars);
    return {
      matches,
      total_matches: matches.length,
      truncated: found.truncated || matches.length < found.matches.length,
      timed_out: found.timedOut,
    };
  },
  readerText: ({ matches, ...outcome }) => textOf(matches) + outcomeLine(outcome),
  summary: (result) => `${result.total_matches} matches${outcomeLine(result)}`,
});

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
    matches.addJson(`{"file":${quoted},${lineJson(match)}}`);
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
 * Formats matches as `rg --heading -n` does: the path, then `12:line` and `13-context`, each line of a file once, `--` where lines
 * are left out between context, an empty line between files.
 */
function matchText(found: readonly LineMatch[], maxChars: number | undefined): TextList {
  const text = new TextList(maxChars);
  let last: { readonly file: string; readonly line: number } | undefined;
  for (const [index, match] of found.entries()) {
    const { file, lineNumber, lineContent, contextBefore, contextAfter } = match;
    const following = found[index + 1];
    const shown = last?.file === file ? last.line : 0;
    const before = numbered(contextBefore, lineNumber - contextBefore.length).slice(
      Math.max(0, shown - lineNumber + contextBefore.length + 1),
    );
    const after = numbered(contextAfter, lineNumber + 1);
    if (following?.file === file) after.splice(following.lineNumber - lineNumber - 1);
    const isGap = contextBefore.length + contextAfter.length > 0 && shown > 0 && lineNumber - before.length > shown + 1;
    const heading = shown > 0 ? (isGap ? ['--'] : []) : [...(last === undefined ? [] : ['']), file];
    if (!text.add(`${[...heading, ...before, `${lineNumber}:${lineContent}`, ...after].join('\n')}\n`)) break;
    last = { file, line: lineNumber + after.length };
  }
  return text;
}

function numbered(context: readonly string[], first: number): string[] {
  return context.map((line, index) => `${first + index}-${line}`);
}
