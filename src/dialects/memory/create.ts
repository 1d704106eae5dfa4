import * as z from 'zod';
import { decodeContent } from '../../ops/decode-content.ts';
import { writeFile } from '../../ops/write-file.ts';
import { defineTool } from '../../tools/tool.ts';
import { changedPath, encoding, SUBJECT, storagePath } from './fields.ts';
import { parseStoragePath } from './storage-path.ts';

export const create = defineTool({
  name: 'create',
  description:
    'Create a file that does not exist yet; missing folders above it are made. content is text with encoding "utf-8", or bytes with encoding "base64".',
  needs: ['write_file'],
  effect: 'create',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath, content: z.string(), encoding }),
  output: changedPath,
  run: async ({ path, content, encoding }, context) => {
    const root = context.home();
    const target = parseStoragePath(path);
    const bytes = decodeContent(content, encoding, 'content');
    await writeFile(root, target, bytes, { mode: 'create_only', durable: context.durable });
    return { path };
  },
  text: ({ path }) => `Created ${path}.`,
});
