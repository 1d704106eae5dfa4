import * as z from 'zod';
import { isCode } from '../../errors.ts';
import type { CallerPath, EntryType, Root } from '../../fence/index.ts';
import { removeFile } from '../../ops/remove-file.ts';
import { removeFolder } from '../../ops/remove-folder.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { entryType, filePath } from './fields.ts';
import { pathIn, shown } from './path.ts';

interface Flags {
  readonly recursive: boolean;
  readonly force: boolean;
}

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
  run: async ({ path: raw, ...flags }, context) => {
    const root = context.home();
    const path = pathIn(root, raw);
    return { success: true as const, path: shown(path), type: await remove(root, path, flags, context) };
  },
});

async function remove(
  root: Root,
  path: CallerPath,
  flags: Flags,
  context: CallContext,
): Promise<EntryType | 'missing'> {
  try {
    const { type } = await removeFile(root, path);
    return type;
  } catch (error) {
    if (flags.force && isCode(error, 'not_found', 'not_directory')) return 'missing';
    if (!isCode(error, 'is_directory')) throw error;
  }
  context.require(root, 'remove_folder');
  await removeFolder(root, path, context, { recursive: flags.recursive, keepGoing: flags.force });
  return 'directory';
}
