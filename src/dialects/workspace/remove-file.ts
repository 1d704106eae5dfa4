import * as z from 'zod';
import { removeFile as remove } from '../../files/remove/remove-entry.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, ifMatch, rootName, SUBJECT } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const removeFile = defineTool({
  name: 'remove_file',
  description: 'Delete one file. A symlink is deleted itself, not what it points to. For folders use remove_folder.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath, if_match: ifMatch }),
  output: z.object({ path: z.string(), removed: z.literal(true) }),
  changes: (args, context) => [{ ...targetOf(args, context), kind: 'remove', only: 'file' }],
  run: async (args, context) => {
    const target = targetOf(args, context);
    const ifMatch = args.if_match ?? context.agreedVersion?.(target);
    await remove(target.root, target.path, { durable: context.durable, ifMatch }, context);
    return { path: args.path, removed: true as const };
  },
  readerText: ({ path }) => `removed ${path}`,
});
