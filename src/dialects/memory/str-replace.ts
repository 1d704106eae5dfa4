import * as z from 'zod';
import { replaceText } from '../../files/edit/edit-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, SUBJECT, storagePath } from './shared-schemas.ts';

export const strReplace = defineTool({
  name: 'str_replace',
  description:
    'Replace a piece of text in a file. old_str has to appear exactly once, character for character; include lines around it to make it unique. new_str may be empty.',
  needs: ['write_file'],
  effect: 'change',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath, old_str: z.string(), new_str: z.string() }),
  output: changedPath,
  run: async ({ path, old_str, new_str }, context: BoundRootContext) => {
    const root = context.boundRoot();
    const target = parseRelativePath(root, path);
    if (old_str === '') {
      const problem = 'old_str must not be empty';
      throw new ToolError('invalid_argument', { argument: 'old_str', problem }, { path });
    }
    await replaceText(root, target, { oldText: old_str, newText: new_str }, context);
    return { path };
  },
  text: ({ path }) => `Edited ${path}.`,
});
