import * as z from 'zod';
import { insertText } from '../../files/edit/edit-file.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';
import { targetOf } from './target.ts';

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
  changes: ({ path }, context: BoundRootContext) => [{ ...targetOf(path, context), kind: 'edit', only: 'file' }],
  run: async ({ path, insert_line, new_str }, context: BoundRootContext) => {
    const target = targetOf(path, context);
    const insertion = { after: insert_line - 1, text: new_str, as: 'text' } as const;
    const { durable, signal, caller } = context;
    const options = { durable, signal, caller, ifMatch: context.agreedVersion?.(target) };
    await insertText(target.root, target.path, insertion, options);
    return { path };
  },
  text: ({ path }) => `Edited ${path}.`,
});
