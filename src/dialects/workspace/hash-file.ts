import * as z from 'zod';
import { HASH_ALGORITHMS, hashFile as hash, hashBytes } from '../../files/read/hash-file.ts';
import { showValue } from '../../tools/show-value.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatSize } from '../../wire/format-size.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';

export const hashFile = defineTool({
  name: 'hash_file',
  description: "Hash a file's content, of any size, to compare or verify files without reading them.",
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
    const { root: home, agent } = context.resolveRoot(root);
    if (agent !== undefined) return { path, algorithm, ...hashBytes((await agent.read(path)).bytes, algorithm) };
    return { path, algorithm, ...(await hash(home, home.parse(path), algorithm, context)) };
  },
  readerText: ({ algorithm, hash, size }) => `${algorithm} ${hash} (${formatSize(size)})`,
});
