import * as z from 'zod';
import { FenceError } from '../../fence/index.ts';
import { makeFolder } from '../../files/write/make-folder.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, targetOf } from './path.ts';
import { filePath } from './shared-schemas.ts';

export const mkdir = defineTool({
  name: 'mkdir',
  description:
    'Make a folder. With recursive (the default) missing parents are made too and an existing folder is fine; without it both are errors.',
  needs: ['create_folder'],
  effect: 'create',
  subject: ['path'],
  input: z.strictObject({ path: filePath, recursive: z.boolean().default(true) }),
  output: z.object({ success: z.literal(true), path: z.string() }),
  changes: ({ path }, context) => [{ ...targetOf(path, context), kind: 'create' }],
  run: async (args, context) => {
    const { root, path } = targetOf(args.path, context);
    const { created } = await makeFolder(
      root,
      path,
      { durable: context.durable, makeParents: args.recursive },
      context,
    );
    if (!created && !args.recursive) throw new FenceError('already_exists', {}, { path: args.path, root: root.name });
    return { success: true as const, path: formatPath(path) };
  },
});
