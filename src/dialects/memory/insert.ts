import * as z from 'zod';
import { insertText } from '../../files/edit/edit-file.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';

export const insert = defineTool({
  name: 'insert',
  description:
    'Insert text above a line of a file. insert_line counts from 1; one more than the number of lines appends. Text goes in as given: end it with a line break to make it a line of its own.',
  needs: ['write_file'],
  effect: 'add',
  subject: SUBJECT,
  input: z.strictObject({
    path: storagePath,
    insert_line: z.number().describe('Line to insert above, from 1'),
    new_str: z.string(),
  }),
  output: changedPath,
  run: async ({ path, insert_line, new_str }, context: BoundRootContext) => {
    const root = context.boundRoot();
    const insertion = { after: insert_line - 1, text: new_str, as: 'text' } as const;
    await insertText(root, parseRelativePath(root, path), insertion, context);
    return { path };
  },
  text: ({ path }) => `Edited ${path}.`,
});
