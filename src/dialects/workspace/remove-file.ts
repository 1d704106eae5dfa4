import * as z from 'zod';
import { removeFile as remove } from '../../files/remove/remove-entry.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, ifMatch, rootName, SUBJECT } from './shared-schemas.ts';

export const removeFile = defineTool({
  name: 'remove_file',
  description: 'Delete one file. A symlink is deleted itself, not what it points to. For folders use remove_folder.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath, if_match: ifMatch }),
  output: z.object({ path: z.string(), removed: z.literal(true) }),
  run: async ({ root, path, if_match }, context) => {
    const target = context.root(root);
    await remove(target, target.parse(path), { durable: context.durable, ifMatch: if_match }, context);
    return { path, removed: true as const };
  },
  readerText: ({ path }) => `removed ${path}`,
});
