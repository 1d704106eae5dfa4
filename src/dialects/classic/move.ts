import * as z from 'zod';
import { move as moveOp } from '../../files/copy/move.ts';
import { defineTool } from '../../tools/tool.ts';
import { pathIn, shown } from './path.ts';
import { ENDS_SUBJECT, ends } from './shared-schemas.ts';

export const move = defineTool({
  name: 'move',
  description:
    'Move or rename a file, folder or symlink to an exact new path; missing parents are made. An existing destination is an error unless overwrite, which replaces a file, or an empty folder by a folder.',
  needs: ['move'],
  effect: 'change',
  subject: ENDS_SUBJECT,
  input: z.strictObject({ ...ends, overwrite: z.boolean().default(false) }),
  output: z.object({ success: z.literal(true), source: z.string(), destination: z.string() }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const from = { root, path: pathIn(root, args.source) };
    const to = { root, path: pathIn(root, args.destination) };
    await moveOp(from, to, { durable: context.durable, intoFolders: false, overwrite: args.overwrite }, context);
    return { success: true as const, source: shown(from.path), destination: shown(to.path) };
  },
});
