import * as z from 'zod';
import { refuseOutwardLink } from '../../files/links.ts';
import { removeEntry } from '../../files/remove/remove-entry.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';

/** The tool `delete`, whose name is a reserved word in JavaScript. */
export const deleteEntry = defineTool({
  name: 'delete',
  description: 'Delete a file or an empty folder. A folder with anything in it, even hidden files, is refused.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath }),
  output: changedPath,
  run: async ({ path }, context: BoundRootContext) => {
    const root = context.boundRoot();
    const target = parseRelativePath(root, path);
    refuseOutwardLink(root, target);
    const beforeFolder = () => context.require(root, 'remove_folder');
    await removeEntry(root, target, { durable: context.durable, recursive: false, beforeFolder }, context);
    return { path };
  },
  text: ({ path }) => `Deleted ${path}.`,
});
