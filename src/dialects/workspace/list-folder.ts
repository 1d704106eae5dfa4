import * as z from 'zod';
import { type FolderEntry, listFolder as list } from '../../ops/list-folder.ts';
import { firstFitting } from '../../tools/result-size.ts';
import { defineTool } from '../../tools/tool.ts';
import { entryType, filePath, rootName, SUBJECT } from './fields.ts';

/** More never fit into one result, however short their names. */
const MAX_ENTRIES = 50_000;

/** Of a file on the client's side, not all of it may be known. */
type Listed = Pick<FolderEntry, 'name' | 'type'> & Partial<FolderEntry>;

export const listFolder = defineTool({
  name: 'list_folder',
  description:
    'List the direct children of a folder, hidden ones included, sorted by name. "" or "." is the root. For recursive listing use glob.',
  needs: ['list_folder'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({
    entries: z.array(
      z.object({
        name: z.string(),
        type: entryType,
        size: z.int().optional(),
        modified_at: z.string().optional(),
        target_type: z.enum(['file', 'directory', 'other', 'external', 'missing']).optional(),
      }),
    ),
    count: z.int(),
    truncated: z.literal(true).optional().describe('Only the first entries fit; narrow with glob'),
  }),
  run: async (args, context) => {
    const { root, agent } = context.place(args.root);
    const all: readonly Listed[] =
      agent === undefined ? await list(root, root.parse(args.path), context) : await agent.list(args.path);
    const first = all.slice(0, MAX_ENTRIES).map(({ name, type, size, modified, targetType }) => ({
      name,
      type,
      ...(size !== undefined && { size }),
      ...(modified !== undefined && { modified_at: modified.toISOString() }),
      ...(targetType && { target_type: targetType }),
    }));
    const entries = [...firstFitting(first)];
    return { entries, count: all.length, ...(entries.length < all.length && { truncated: true as const }) };
  },
});
