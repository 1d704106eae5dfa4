import * as z from 'zod';
import { move } from '../../files/copy/move.ts';
import { FileError } from '../../files/errors.ts';
import { refuseOutwardLink } from '../../files/links.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { storagePath } from './shared-schemas.ts';

export const rename = defineTool({
  name: 'rename',
  description: 'Rename or move a file or folder. Nothing may exist at new_path; missing folders above it are made.',
  needs: ['move'],
  effect: 'change',
  subject: ['old_path', 'new_path'],
  input: z.strictObject({ old_path: storagePath, new_path: storagePath }),
  output: z.object({ old_path: z.string(), new_path: z.string() }),
  run: async ({ old_path, new_path }, context: BoundRootContext) => {
    const root = context.boundRoot();
    const from = { root, path: parseRelativePath(root, old_path) };
    const to = { root, path: parseRelativePath(root, new_path) };
    for (const { path } of [from, to]) {
      if (path.segments.length === 0) throw new FileError('root_itself', { action: 'rename' }, { path: path.raw });
    }
    refuseOutwardLink(root, from.path);
    const options = { durable: context.durable, overwrite: false, intoFolders: false, isPrivate: true };
    await move(from, to, options, context);
    return { old_path, new_path };
  },
  text: ({ old_path, new_path }) => `Renamed ${old_path} to ${new_path}.`,
});
