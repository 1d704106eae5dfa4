import * as z from 'zod';
import { printable } from '../../runtime/printable.ts';
import { type GlobMatch, type GlobResult, type PathQuery, glob as search } from '../../search/index.ts';
import { ToolError } from '../../tools/errors.ts';
import { lengthIn, type ResultForm } from '../../tools/result-form.ts';
import { defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
import {
  entryType,
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

const match = z.object({ path: z.string(), type: entryType, size: z.int(), modified_at: z.string() });
type Matches = JsonList<z.output<typeof match>>;

const TYPES = ['file', 'directory', 'symlink', 'all'] as const;

export const glob = defineTool({
  name: 'glob',
  description:
    'Find files and folders by name: pattern (glob: * in a folder, ** across, {a,b}) or regex (RE2, anywhere in the path), relative to path. Hidden ones are found, those that .gitignore or .ignore rule out and .git only with include_ignored. Result paths are relative to the root.',
  needs: ['glob'],
  effect: 'read',
  paged: true,
  ownTimeout: true,
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    pattern: z.string().optional().describe('Like **/*.go'),
    regex: z.string().optional(),
    path: startFolder,
    exclude,
    include_ignored: includeIgnored,
    sort_by: z.enum(['path', 'modified']).default('path').describe('modified: newest first'),
    max_results: maxResults,
    offset,
    timeout_seconds: timeoutSeconds,
    max_depth: maxDepth,
    type_filter: z.enum(TYPES).default('all'),
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
        ...queryOf(args.pattern, args.regex),
        path: root.parse(args.path),
        exclude: args.exclude,
        ignore: !args.include_ignored,
        sortBy: args.sort_by,
        maxResults: args.max_results,
        offset: args.offset,
        timeoutSeconds: args.timeout_seconds,
        maxDepth: args.max_depth,
        type: args.type_filter,
      },
      context.search,
      context,
    );
    const { results } = context;
    const matches =
      results.mode === 'text' ? pathLines(found.matches, results) : matchJson(found.matches, results.maxChars);
    return {
      matches,
      ...outcomeOf({
        returned: matches.length,
        offset: args.offset,
        found,
        hint: (ignored) => noMatchHint(args, found, ignored),
      }),
    };
  },
  readerText: ({ matches, ...outcome }) => textOf(matches) + outcomeLine(outcome),
  summary: (result) => `${result.total_matches} matches${outcomeLine(result)}`,
});

interface Query {
  readonly pattern?: string | undefined;
  /** Undefined for a tool that searches the whole root. */
  readonly path?: string | undefined;
  readonly max_depth?: number | undefined;
}

/** Says why nothing was found, as far as that can be known. */
export function noMatchHint(
  { pattern, path, max_depth: depth }: Query,
  { entriesSeen, timedOut }: GlobResult,
  ignored: string,
): string {
  const searched = `no match among ${entriesSeen} ${entriesSeen === 1 ? 'entry' : 'entries'}`;
  if (timedOut || pattern === undefined) return searched + ignored;
  const isShallow = !pattern.includes('/') && pattern !== '**' && depth !== 1;
  const problem =
    (path === undefined ? undefined : globProblem('pattern', pattern, path)) ??
    (isShallow
      ? `pattern matches direct children of ${path === undefined ? 'the root' : 'path'}; ${JSON.stringify(`**/${pattern}`)} matches at any depth`
      : '');
  return `${searched}${problem && `; ${problem}`}${ignored}`;
}

/** Formats matches as a path a line; folders end in a slash. */
function pathLines(found: readonly GlobMatch[], form: ResultForm): TextList {
  const text = new TextList(form.maxChars, lengthIn(form));
  for (const { path, type } of found) if (!text.add(`${printable(path)}${type === 'directory' ? '/' : ''}\n`)) break;
  return text;
}

function matchJson(found: readonly GlobMatch[], maxChars: number | undefined): Matches {
  const matches: Matches = new JsonList(maxChars);
  for (const { path, type, size, modifiedAt } of found)
    if (!matches.add({ path, type, size, modified_at: modifiedAt })) break;
  return matches;
}

function queryOf(pattern: string | undefined, regex: string | undefined): PathQuery {
  if (pattern !== undefined && regex === undefined) return { pattern };
  if (regex !== undefined && pattern === undefined) return { regex };
  throw new ToolError('invalid_argument', { problem: 'exactly one of pattern or regex must be provided' });
}
