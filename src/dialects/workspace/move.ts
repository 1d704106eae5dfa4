import * as z from 'zod';
import { move as moveOp } from '../../files/copy/move.ts';
import { defineTool } from '../../tools/tool.ts';
import { SOURCE_DESTINATION_SUBJECT, sourceDestination } from './shared-schemas.ts';
import { parseSourceDestination } from './source-destination.ts';

export const move = defineTool({
  name: 'move',
  description:
    'Move or rename a file or folder, also between roots. An existing destination file is replaced; an existing destination folder is moved into. Both roots must allow move.',
  needs: ['move'],
  effect: 'change',
  subject: SOURCE_DESTINATION_SUBJECT,
  input: z.strictObject(sourceDestination),
  output: z.object({ source: z.string(), destination: z.string() }),
  run: async (args, context) => {
    const { from, to } = parseSourceDestination(args, context);
    const { destination } = await moveOp(from, to, { durable: context.durable }, context);
    return { source: args.source_path, destination };
  },
  readerText: ({ source, destination }) => `moved ${source} to ${destination}`,
});
