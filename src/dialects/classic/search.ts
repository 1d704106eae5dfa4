import * as z from 'zod';
import { grep, type LineMatch } from '../../search/index.ts';
import { defineTool } from '../../tools/tool.ts';
import { firstFitting } from '../../wire/result-size.ts';
import { assertGlob, UNTIMED } from './assert-glob.ts';
import { parsePath } from './path.ts';

const contextLine = z.object({ line_number: z.int(), content: z.string() });

const match = z.object({
  line_number: z.int(),
  line: z.string(),
  line_truncated: z.literal(true).optional(),
  context: z.array(contextLine),
});

export const search = defineTool({
  name: 'search',
  description:
    'Find lines in files that hold a text, or match a regular expression (RE2 syntax) with regex. Ignores case unless case_sensitive. Hidden files are searched; binary files, larger files and symlinks are not. Matches come by file, paths relative to the root, line numbers from 1. truncated: true means that there are more.',
  needs: ['grep'],
  effect: 'read',
  subject: ['root_path'],
  input: z.strictObject({
    root_path: z.string().describe('Folder (or file) to search, relative to the root'),
    pattern: z.string().min(1),
    regex: z.boolean().default(false),
    file_pattern: z.string().default('*').describe('Glob: only these files, like *.ts or src/**/*.ts'),
    recursive: z.boolean().default(true),
    case_sensitive: z.boolean().default(false),
    max_results: z.int().min(1).default(100),
    max_file_size: z.int().min(1).default(10_485_760).describe('Bytes'),
    context_lines: z.int().min(0).max(100).default(0).describe('Lines before and after each match'),
  }),
  output: z.object({
    total_matches: z.int().describe('Returned here'),
    files_searched: z.int(),
    files_matched: z.int(),
    matches: z.array(z.object({ file: z.string(), matches: z.array(match) })),
    truncated: z.literal(true).optional(),
  }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const path = parsePath(root, args.root_path);
    assertGlob(args.file_pattern, 'file_pattern');
    const options = {
      pattern: args.pattern,
      literal: !args.regex,
      path,
      globFilter: args.file_pattern,
      caseInsensitive: !args.case_sensitive,
      contextLines: args.context_lines,
      maxResults: args.max_results,
      timeoutSeconds: UNTIMED,
      maxDepth: args.recursive ? undefined : 1,
      maxFileSize: args.max_file_size,
    };
    const found = await grep(root, options, context.search, context);
    const all = found.matches.map((line) => toMatch(line, args.context_lines > 0));
    const fitting = firstFitting(all);
    const matches = byFile(fitting);
    return {
      total_matches: fitting.length,
      files_searched: found.filesSearched,
      files_matched: matches.length,
      matches,
      ...((found.truncated || fitting.length < all.length) && { truncated: true as const }),
    };
  },
});

type FileMatch = z.output<typeof match> & { readonly file: string };

function toMatch(found: LineMatch, withContext: boolean): FileMatch {
  const line = withoutReturn(found.lineContent);
  const around = withContext ? [...found.contextBefore, found.lineContent, ...found.contextAfter] : [];
  const first = found.lineNumber - found.contextBefore.length;
  return {
    file: found.file,
    line_number: found.lineNumber,
    line,
    ...(found.lineTruncated && { line_truncated: true as const }),
    context: around.map((content, i) => ({ line_number: first + i, content: withoutReturn(content) })),
  };
}

/** Removes a CR at the end of a line: in a file with CRLF line endings it is part of the line ending. */
function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Groups matches by file. They are sorted by path, so the matches of one file are adjacent. */
function byFile(found: readonly FileMatch[]) {
  const groups: { file: string; matches: z.output<typeof match>[] }[] = [];
  for (const { file, ...line } of found) {
    const last = groups.at(-1);
    if (last?.file === file) last.matches.push(line);
    else groups.push({ file, matches: [line] });
  }
  return groups;
}
