import * as z from 'zod';
import { copy as copyOp } from '../../files/copy/copy.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatSize } from '../../wire/format-size.ts';
import { agreedEnd, copyEnd } from './copy-end.ts';
import { copyFetched } from './copy-fetched.ts';
import { ifMatch, SOURCE_DESTINATION_SUBJECT, sourceDestination } from './shared-schemas.ts';
import { parseSourceDestination } from './source-destination.ts';

export const copy = defineTool({
  name: 'copy',
  description:
    'Copy a file or folder, also between roots. An existing destination file is replaced unless overwrite is false; an existing folder is copied into. Both roots must allow copy.',
  needs: ['copy'],
  effect: 'change',
  subject: SOURCE_DESTINATION_SUBJECT,
  input: z.strictObject({
    ...sourceDestination,
    if_match: ifMatch.describe('Expected version of the destination'),
  }),
  output: z.object({
    source: z.string(),
    destination: z.string(),
    is_directory: z.boolean(),
    size: z.int().optional().describe('Bytes, for a file'),
    skipped: z.array(z.string()).optional().describe('Outward links and special files left out'),
  }),
  changes: (args, context) => {
    const to = copyEnd(args, context);
    const copyOf = { root: { name: args.source_root }, path: { raw: args.source_path } };
    return to === undefined ? [] : [{ ...to, kind: args.overwrite ? 'replace' : 'create', copyOf }];
  },
  run: async (args, context) => {
    const { agent } = context.resolveRoot(args.source_root);
    if (agent !== undefined || context.resolveRoot(args.dest_root).agent !== undefined) {
      return copyFetched(args, { agent, context });
    }
    const { from, to } = parseSourceDestination(args, context);
    const { end = to, ifMatch } = agreedEnd(args, context);
    const options = { durable: context.durable, overwrite: args.overwrite, ifMatch };
    const { destination, isDirectory, bytes, skipped } = await copyOp(from, end, options, context);
    return {
      source: args.source_path,
      destination,
      is_directory: isDirectory,
      ...(!isDirectory && { size: bytes }),
      ...(skipped.length > 0 && { skipped: [...skipped] }),
    };
  },
  readerText: ({ source, destination, size, skipped = [] }) => {
    const what = size === undefined ? 'folder ' : '';
    const left =
      skipped.length === 0 ? '' : `\nleft out, since they lead outside or are no files: ${skipped.join(', ')}`;
    return `copied ${what}${source} to ${destination}${size === undefined ? '' : ` (${formatSize(size)})`}${left}`;
  },
});
