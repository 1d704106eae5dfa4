import * as z from 'zod';
import { HASH_ALGORITHMS, hashFile as hash } from '../../ops/hash-file.ts';
import { showValue } from '../../tools/show-value.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './fields.ts';

export const hashFile = defineTool({
  name: 'hash_file',
  description: "Hash a file's content, streamed, so size does not matter.",
  needs: ['hash_file'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    path: filePath,
    algorithm: z.enum(HASH_ALGORITHMS, {
      error: ({ input }) =>
        input === undefined
          ? undefined
          : `unsupported hash algorithm: ${showValue(input)}; supported: ${HASH_ALGORITHMS.join(', ')}`,
    }),
  }),
  output: z.object({ path: z.string(), algorithm: z.string(), hash: z.string().describe('Hex'), size: z.int() }),
  run: async ({ root, path, algorithm }, context) => {
    const target = context.root(root);
    const result = await hash(target, target.parse(path), algorithm, context);
    return { path, algorithm, ...result };
  },
});
