import * as z from 'zod';
import { makeFolder } from '../../files/write/make-folder.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const createFolder = defineTool({
  name: 'create_folder',
  description:
    'Create a folder and its parents. Needed only for an empty one: other tools make the folders that they write to.',
  needs: ['create_folder'],
  effect: 'create',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({ path: z.string(), created: z.literal(true) }),
  changes: (args, context) => [{ ...targetOf(args, context), kind: 'create' }],
  run: async ({ root, path }, context) => {
    const target = context.root(root);
    await makeFolder(target, target.parse(path), { durable: context.durable }, context);
    return { path, created: true as const };
  },
  readerText: ({ path }) => `created ${path}`,
});
