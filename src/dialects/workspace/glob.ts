import * as z from 'zod';
import { RingfenceError } from '../../errors.ts';
import { glob as search } from '../../ops/glob.ts';
import { defineTool } from '../../tools/tool.ts';
import { entryType, maxDepth, maxResults, rootName, startFolder, timeoutSeconds } from './fields.ts';

const TYPES = ['file', 'directory', 'symlink', 'all'] as const;

export const glob = defineTool({
  name: 'glob',
  description:
    'Find files and folders by name, sorted by path, hidden ones included. Give pattern (glob: * within a folder, ** across, {a,b}) or regex (RE2, matched anywhere in the path), both relative to path. Result paths are relative to the root.',
  needs: ['glob'],
  effect: 'read',
  ownTimeout: true,
  subject: ['root', 'path'],
  input: z.strictObject({
    root: rootName,
    pattern: z.string().optional().describe('Like **/*.go'),
    regex: z.string().optional(),
    path: startFolder,
    max_results: maxResults,
    timeout_seconds: timeoutSeconds,
    max_depth: maxDepth,
    type_filter: z.enum(TYPES).default('all'),
  }),
  output: z.object({
    matches: z.array(z.object({ path: z.string(), type: entryType, size: z.int(), modified_at: z.string() })),
    total_matches: z.int().describe('Returned here'),
    truncated: z.boolean().describe('There are more'),
    timed_out: z.boolean(),
  }),
  run: async (args, context) => {
    const root = context.root(args.root);
    if ((args.pattern === undefined) === (args.regex === undefined)) {
      throw new RingfenceError('invalid_argument', { problem: 'exactly one of pattern or regex must be provided' });
    }
    const found = await search(
      root,
      {
        pattern: args.pattern,
        regex: args.regex,
        path: root.parse(args.path),
        maxResults: args.max_results,
        timeoutSeconds: args.timeout_seconds,
        maxDepth: args.max_depth,
        type: args.type_filter,
      },
      context.search,
      context,
    );
    return {
      matches: found.matches.map(({ path, type, size, modifiedAt }) => ({ path, type, size, modified_at: modifiedAt })),
      total_matches: found.totalMatches,
      truncated: found.truncated,
      timed_out: found.timedOut,
    };
  },
});
