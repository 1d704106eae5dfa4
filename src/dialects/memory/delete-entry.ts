import * as z from 'zod';
import { refuseOutwardLink } from '../../files/links.ts';
import { removeEntry } from '../../files/remove/remove-entry.ts';
import { removal } from '../../tools/removal.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';
import { targetOf } from './target.ts';

/** The tool `delete`, whose name is a reserved word in JavaScript. */
export const deleteEntry = defineTool({
  name: 'delete',
  description: 'Delete a file or an empty folder. A folder with anything in it, even hidden files, is refused.',
  needs: ['remove_file'],
  effect: 'destroy',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath }),
  output: changedPath,
  changes: ({ path }, context: BoundRootContext) => {
    const target = targetOf(path, context);
    refuseOutwardLink(target.root, target.path);
    return [removal(target)];
  },
  run: async ({ path }, context: BoundRootContext) => {
    const target = targetOf(path, context);
    const { root } = target;
    refuseOutwardLink(root, target.path);
    const beforeFolder = () => context.require(root, 'remove_folder');
    const ifMatch = context.agreedVersion?.(target);
    const options = { durable: context.durable, recursive: false, beforeFolder, ifMatch };
    await removeEntry(root, target.path, options, context);
    return { path };
  },
  text: ({ path }) => `Deleted ${path}.`,
});
