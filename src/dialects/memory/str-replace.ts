import * as z from 'zod';
import { replaceText } from '../../files/edit/edit-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const strReplace = defineTool({
  name: 'str_replace',
  description:
    'Replace a piece of text in a file. old_str has to appear exactly once, character for character; include lines around it to make it unique. new_str may be empty.',
  needs: ['write_file'],
  effect: 'change',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath, old_str: z.string(), new_str: z.string() }),
  output: changedPath,
  changes: ({ path }, context: BoundRootContext) => [{ ...targetOf(path, context), kind: 'edit', only: 'file' }],
  run: async ({ path, old_str, new_str }, context: BoundRootContext) => {
    const target = targetOf(path, context);
    if (old_str === '') {
      const problem = 'old_str must not be empty';
      throw new ToolError('invalid_argument', { argument: 'old_str', problem }, { path });
    }
    const { durable, signal, caller } = context;
    const options = { durable, signal, caller, ifMatch: context.agreedVersion?.(target) };
    await replaceText(target.root, target.path, { oldText: old_str, newText: new_str }, options);
    return { path };
  },
  text: ({ path }) => `Edited ${path}.`,
});
