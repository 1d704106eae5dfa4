import * as z from 'zod';
import { makeFolder } from '../../files/write/make-folder.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';

export const createFolder = defineTool({
  name: 'create_folder',
  description:
    'Create a folder and any missing parents; an existing one is fine. Needed only for empty folders: writing, copying and moving make parents themselves.',
  needs: ['create_folder'],
  effect: 'create',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({ path: z.string(), created: z.literal(true) }),
  run: async ({ root, path }, context) => {
    const target = context.root(root);
    await makeFolder(target, target.parse(path));
    return { path, created: true as const };
  },
  readerText: ({ path }) => `created ${path}`,
});
