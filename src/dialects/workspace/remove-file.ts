import * as z from 'zod';
import { parseCallerPath } from '../../fence/index.ts';
import { removeFile as remove } from '../../ops/remove-file.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './fields.ts';

export const removeFile = defineTool({
  name: 'remove_file',
  description: 'Delete one file. A symlink is deleted itself, not what it points to. For folders use remove_folder.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({ path: z.string(), removed: z.literal(true) }),
  run: async ({ root, path }, context) => {
    await remove(context.root(root), parseCallerPath(path));
    return { path, removed: true as const };
  },
});
