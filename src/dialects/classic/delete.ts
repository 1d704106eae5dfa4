import * as z from 'zod';
import { type EntryType, isFenceError } from '../../fence/index.ts';
import { removeEntry } from '../../files/remove/remove-entry.ts';
import { removal } from '../../tools/removal.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, targetOf } from './path.ts';
import { entryType, filePath } from './shared-schemas.ts';

export const deleteTool = defineTool({
  name: 'delete',
  description:
    'Delete a file or folder; a symlink is deleted itself, not what it leads to. A folder that is not empty needs recursive. force makes a missing path a success (type "missing") and goes on past entries that cannot be deleted. There is no undo.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: ['path'],
  input: z.strictObject({
    path: filePath,
    recursive: z.boolean().default(false),
    force: z.boolean().default(false),
  }),
  output: z.object({
    success: z.literal(true),
    path: z.string(),
    type: z.enum([...entryType.options, 'missing']).describe('What it was'),
  }),
  changes: ({ path }, context) => [removal(targetOf(path, context))],
  run: async ({ path: raw, recursive, force }, context) => {
    const target = targetOf(raw, context);
    const { root, path } = target;
    let isFolder = false;
    const beforeFolder = () => {
      isFolder = true;
      context.require(root, 'remove_folder');
    };
    const removed = (type: EntryType | 'missing') => ({ success: true as const, path: formatPath(path), type });
    try {
      const ifMatch = context.agreedVersion?.(target);
      const options = { durable: context.durable, recursive, keepGoing: force, beforeFolder, ifMatch };
      const { type } = await removeEntry(root, path, options, context);
      return removed(type);
    } catch (error) {
      if (force && !isFolder && isFenceError(error, 'not_found', 'not_directory')) return removed('missing');
      throw error;
    }
  },
});
