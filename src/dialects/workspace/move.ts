import * as z from 'zod';
import { resolveInto } from '../../files/copy/copy.ts';
import { move as moveOp } from '../../files/copy/move.ts';
import { moveChanges } from '../../tools/intended-change.ts';
import { defineTool } from '../../tools/tool.ts';
import { ifMatch, SOURCE_DESTINATION_SUBJECT, sourceDestination } from './shared-schemas.ts';
import { parseSourceDestination } from './source-destination.ts';

export const move = defineTool({
  name: 'move',
  description:
    'Move or rename a file or folder, also between roots. An existing destination file is replaced unless overwrite is false; an existing folder is moved into. Both roots must allow move.',
  needs: ['move'],
  effect: 'change',
  subject: SOURCE_DESTINATION_SUBJECT,
  input: z.strictObject({
    ...sourceDestination,
    if_match: ifMatch.describe('Expected version of the source'),
  }),
  output: z.object({ source: z.string(), destination: z.string() }),
  changes: (args, context) => {
    const { from, to } = parseSourceDestination(args, context);
    return moveChanges(from, resolveInto(from.path, to), args.overwrite);
  },
  run: async (args, context) => {
    const { from, to } = parseSourceDestination(args, context);
    const ifMatch = args.if_match ?? context.agreedVersion?.(from);
    const ifDestination = context.agreedVersion?.(resolveInto(from.path, to));
    const options = { durable: context.durable, overwrite: args.overwrite, ifMatch, ifDestination };
    const { destination } = await moveOp(from, to, options, context);
    return { source: args.source_path, destination };
  },
  readerText: ({ source, destination }) => `moved ${source} to ${destination}`,
});
