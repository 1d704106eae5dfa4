import * as z from 'zod';
import { removeFolder as remove } from '../../files/remove/remove-folder.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const removeFolder = defineTool({
  name: 'remove_folder',
  description:
    'Delete a folder and everything in it; symlinks themselves, not what they point to. The root cannot be removed.',
  needs: ['remove_folder'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({ path: z.string(), removed: z.literal(true) }),
  changes: (args, context) => [{ ...targetOf(args, context), kind: 'remove', only: 'folder' }],
  run: async (args, context) => {
    const target = targetOf(args, context);
    const options = { durable: context.durable, ifMatch: context.agreedVersion?.(target) };
    await remove(target.root, target.path, options, context);
    return { path: args.path, removed: true as const };
  },
  readerText: ({ path }) => `removed ${path} and everything in it`,
});
