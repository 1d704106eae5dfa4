import * as z from 'zod';
import { copy as copyOp } from '../../files/copy/copy.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, targetOf } from './path.ts';
import { SOURCE_DESTINATION_SUBJECT, sourceDestination } from './shared-schemas.ts';

export const copy = defineTool({
  name: 'copy',
  description:
    'Copy a file or folder to an exact new path; missing parents are made. An existing destination is an error unless overwrite, which replaces a file and merges a folder into a folder. skipped lists links out of the root and special files, which are never copied.',
  needs: ['copy'],
  effect: 'change',
  subject: SOURCE_DESTINATION_SUBJECT,
  input: z.strictObject({
    ...sourceDestination,
    overwrite: z.boolean().default(false),
    recursive: z.boolean().default(true).describe('Allow a folder as source'),
  }),
  output: z.object({
    success: z.literal(true),
    source: z.string(),
    destination: z.string(),
    bytes_copied: z.int(),
    skipped: z.array(z.string()).optional(),
  }),
  changes: (args, context) => {
    context.requireWritable(context.boundRoot());
    const copyOf = targetOf(args.source, context);
    return [{ ...targetOf(args.destination, context), kind: args.overwrite ? 'replace' : 'create', copyOf }];
  },
  run: async (args, context) => {
    context.requireWritable(context.boundRoot());
    const from = targetOf(args.source, context);
    const to = targetOf(args.destination, context);
    const { overwrite, recursive } = args;
    const ifMatch = context.agreedVersion?.(to);
    const options = { durable: context.durable, intoFolders: false, overwrite, recursive, ifMatch };
    const { bytes, skipped } = await copyOp(from, to, options, context);
    return {
      success: true as const,
      source: formatPath(from.path),
      destination: formatPath(to.path),
      bytes_copied: bytes,
      ...(skipped.length > 0 && { skipped: [...skipped] }),
    };
  },
});
