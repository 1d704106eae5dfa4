import * as z from 'zod';
import { base64ToBytes, textToBytes } from '../../files/encoding.ts';
import { ABSENT } from '../../files/write/if-match.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { writeChange } from '../../tools/intended-change.ts';
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
    const target = targetOf(path, context);
    const bytes = (encoding === 'base64' ? base64ToBytes : textToBytes)(content, 'content');
    const agreed = context.agreedVersion?.(target);
    const options = { mode: 'create_only', durable: context.durable, isPrivate: true } as const;
    // That nothing is there is what the mode demands already.
    const ifMatch = agreed === ABSENT ? undefined : agreed;
    await writeFile(target.root, target.path, bytes, { ...options, ifMatch }, context);
    return { path };
  },
  text: ({ path }) => `Created ${path}.`,
});
