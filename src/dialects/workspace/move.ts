import * as z from 'zod';
import { move as moveOp } from '../../files/copy/move.ts';
import { defineTool } from '../../tools/tool.ts';
import { ENDS_SUBJECT, ends } from './shared-schemas.ts';
import { endsOf } from './source-destination.ts';

export const move = defineTool({
  name: 'move',
  description:
    'Move or rename a file or folder, also between roots. An existing destination file is replaced; an existing destination folder is moved into. Both roots must allow move.',
  needs: ['move'],
  effect: 'change',
  subject: ENDS_SUBJECT,
  input: z.strictObject(ends),
  output: z.object({ source: z.string(), destination: z.string() }),
  run: async (args, context) => {
    const { from, to } = endsOf(args, context);
    const { destination } = await moveOp(from, to, { durable: context.durable }, context);
    return { source: args.source_path, destination };
  },
});
