import * as z from 'zod';
import { move as moveOp } from '../../files/copy/move.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, parsePath } from './path.ts';
import { SOURCE_DESTINATION_SUBJECT, sourceDestination } from './shared-schemas.ts';

export const move = defineTool({
  name: 'move',
  description:
    'Move or rename a file, folder or symlink to an exact new path; missing parents are made. An existing destination is an error unless overwrite, which replaces a file, or an empty folder by a folder.',
  needs: ['move'],
  effect: 'change',
  subject: SOURCE_DESTINATION_SUBJECT,
  input: z.strictObject({ ...sourceDestination, overwrite: z.boolean().default(false) }),
  output: z.object({ success: z.literal(true), source: z.string(), destination: z.string() }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const from = { root, path: parsePath(root, args.source) };
    const to = { root, path: parsePath(root, args.destination) };
    await moveOp(from, to, { durable: context.durable, intoFolders: false, overwrite: args.overwrite }, context);
    return { success: true as const, source: formatPath(from.path), destination: formatPath(to.path) };
  },
});
