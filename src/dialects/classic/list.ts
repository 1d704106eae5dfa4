import * as z from 'zod';
import { glob } from '../../search/index.ts';
import { defineTool } from '../../tools/tool.ts';
import { firstFitting } from '../../wire/result-size.ts';
import { assertGlob, UNTIMED } from './assert-glob.ts';
import { isHidden, parsePath } from './path.ts';
import { entryType, filePath } from './shared-schemas.ts';

const MAX_ENTRIES = 30_000;

export const list = defineTool({
  name: 'list',
  description:
    'List what is in a folder, sorted by path; "." is the root. pattern is a glob on names (or, if it has a slash, on the path from the folder): *, ?, [a-z], {a,b}, **. Hidden files and folders are left out unless include_hidden. truncated: true means that not all entries fit.',
  needs: ['list_folder'],
  effect: 'read',
  subject: ['path'],
  input: z.strictObject({
    path: filePath,
    pattern: z.string().default('*').describe('Glob like *.txt'),
    recursive: z.boolean().default(false),
    include_hidden: z.boolean().default(false).describe('Names that start with a dot'),
    metadata: z.boolean().default(true).describe('Give size and modified'),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        name: z.string(),
        path: z.string(),
        type: entryType,
        size: z.int().optional().describe('Bytes, for files'),
        modified: z.string().optional(),
        is_hidden: z.boolean(),
      }),
    ),
    truncated: z.literal(true).optional(),
  }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const path = parsePath(root, args.path);
    assertGlob(args.pattern, 'pattern');
    const options = {
      pattern: args.pattern.includes('/') ? args.pattern : `**/${args.pattern}`,
      path,
      maxResults: MAX_ENTRIES,
      timeoutSeconds: UNTIMED,
      maxDepth: args.recursive ? undefined : 1,
      type: 'all' as const,
      skipHidden: !args.include_hidden,
    };
    const { matches, truncated } = await glob(root, options, context.search, context);
    const entries = matches.map(({ path, type, size, modifiedAt }) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      const metadata = { ...(type === 'file' && { size }), modified: modifiedAt };
      return { name, path, type, ...(args.metadata && metadata), is_hidden: isHidden(name) };
    });
    const fitting = firstFitting(entries);
    const more = truncated || fitting.length < entries.length;
    return { entries: [...fitting], ...(more && { truncated: true as const }) };
  },
});
