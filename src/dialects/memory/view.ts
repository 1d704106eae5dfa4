import * as z from 'zod';
import { isFenceError } from '../../fence/index.ts';
import { encodeContent } from '../../files/encoding.ts';
import { folderNames } from '../../files/list/list-folder.ts';
import { readFile } from '../../files/read/read-file.ts';
import { parseRelativePath } from '../../tools/relative-path.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { encoding, SUBJECT, storagePath } from './shared-schemas.ts';

const output = z.object({
  type: z.enum(['file', 'directory']),
  content: z.string().optional(),
  encoding: encoding.optional(),
  size: z.int().optional().describe('Bytes of the file'),
  entries: z.array(z.string()).optional(),
});

/** The result of `view`: `content`, `encoding` and `size` for a file, `entries` for a folder. */
export type FileContent = z.output<typeof output>;

export const view = defineTool({
  name: 'view',
  description:
    'Read a file, or list a folder. A file comes as text, or as base64 if it is not UTF-8. A folder comes as the names in it, sorted, without hidden ones. "" or "." is the base folder.',
  needs: ['read_file'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ path: storagePath }),
  output,
  run: async ({ path: raw }, context: BoundRootContext): Promise<FileContent> => {
    const root = context.boundRoot();
    const path = parseRelativePath(root, raw);
    try {
      const options = { range: { by: 'whole' }, maxBytes: context.limits.maxFullReadSize } as const;
      const { bytes, size } = await readFile(root, path, options, context);
      return { type: 'file', ...encodeContent(bytes), size };
    } catch (error) {
      if (!isFenceError(error, 'is_directory')) throw error;
    }
    context.require(root, 'list_folder');
    const names = await folderNames(root, path, context);
    return { type: 'directory', entries: names.filter((name) => !name.startsWith('.')) };
  },
});
