import * as z from 'zod';
import { base64ToBytes, textToBytes } from '../../files/encoding.ts';
import { type WriteMode, writeFile } from '../../files/write/write-file.ts';
import { writeChange } from '../../tools/intended-change.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, targetOf } from './path.ts';
import { fileMetadata, filePath, metadataOf } from './shared-schemas.ts';

/** The write mode for each mode of the contract, which has two names for creating a file that must not exist. */
const MODES = {
  create: 'create_only',
  overwrite: 'overwrite',
  append: 'append',
  create_new: 'create_only',
} as const satisfies Record<string, WriteMode>;

export const write = defineTool({
  name: 'write',
  description:
    'Write a file. mode overwrite replaces it whole or makes it, append adds to its end, create and create_new fail if it exists. Missing parent folders are an error unless make_dirs. Give bytes that are not text as base64. Never leaves a half-written file.',
  needs: ['write_file'],
  effect: 'change',
  subject: ['path'],
  input: z.strictObject({
    path: filePath,
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Of content'),
    mode: z.enum(['create', 'overwrite', 'append', 'create_new']).default('overwrite'),
    make_dirs: z.boolean().default(false),
  }),
  output: z.object({
    success: z.literal(true),
    path: z.string(),
    bytes_written: z.int(),
    metadata: fileMetadata,
  }),
  changes: ({ path, mode }, context) => [{ ...targetOf(path, context), ...writeChange(MODES[mode]), only: 'file' }],
  run: async (args, context) => {
    const target = targetOf(args.path, context);
    const { root, path } = target;
    const decode = args.encoding === 'base64' ? base64ToBytes : textToBytes;
    const bytes = decode(args.content, 'content');
    const ifMatch = context.agreedVersion?.(target);
    const options = { mode: MODES[args.mode], durable: context.durable, makeParents: args.make_dirs, ifMatch };
    const stats = await writeFile(root, path, bytes, options, context);
    return {
      success: true as const,
      path: formatPath(path),
      bytes_written: bytes.length,
      metadata: metadataOf(path, stats),
    };
  },
});
