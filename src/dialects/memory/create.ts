import * as z from 'zod';
import { base64ToBytes, textToBytes } from '../../files/encoding.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { writeChange } from '../../tools/change.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { changedPath, encoding, SUBJECT, storagePath } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const create = defineTool({
  name: 'create',
  description:
    'Create a file that does not exist yet; missing folders above it are made. content is text with encoding "utf-8", or bytes with encoding "base64".',
  needs: ['write_file'],
  effect: 'create',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath, content: z.string(), encoding }),
  output: changedPath,
  changes: ({ path }, context: BoundRootContext) => [{ ...targetOf(path, context), ...writeChange('create_only') }],
  run: async ({ path, content, encoding }, context: BoundRootContext) => {
    const { root, path: target } = targetOf(path, context);
    const bytes = (encoding === 'base64' ? base64ToBytes : textToBytes)(content, 'content');
    await writeFile(root, target, bytes, { mode: 'create_only', durable: context.durable, isPrivate: true }, context);
    return { path };
  },
  text: ({ path }) => `Created ${path}.`,
});
