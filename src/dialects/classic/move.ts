import * as z from 'zod';
import { move as moveOp } from '../../files/copy/move.ts';
import { moveChanges } from '../../tools/intended-change.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, targetOf } from './path.ts';
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
  changes: (args, context) =>
    moveChanges(targetOf(args.source, context), targetOf(args.destination, context), args.overwrite),
  run: async (args, context) => {
    const from = targetOf(args.source, context);
    const to = targetOf(args.destination, context);
    const conditions = { ifMatch: context.agreedVersion?.(from), ifDestination: context.agreedVersion?.(to) };
    const options = { durable: context.durable, intoFolders: false, overwrite: args.overwrite, ...conditions };
    await moveOp(from, to, options, context);
    return { success: true as const, source: formatPath(from.path), destination: formatPath(to.path) };
  },
});
