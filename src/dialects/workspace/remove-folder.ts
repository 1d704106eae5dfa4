import * as z from 'zod';
import { removeFolder as remove } from '../../files/remove/remove-folder.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';

export const removeFolder = defineTool({
  name: 'remove_folder',
  description:
    'Delete a folder and everything in it; symlinks themselves, not what they point to. The root cannot be removed.',
  needs: ['remove_folder'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({ path: z.string(), removed: z.literal(true) }),
  run: async ({ root, path }, context) => {
    const target = context.root(root);
    await remove(target, target.parse(path), { durable: context.durable }, context);
    return { path, removed: true as const };
  },
  readerText: ({ path }) => `removed ${path} and everything in it`,
});
