import * as z from 'zod';
import { move } from '../../files/copy/move.ts';
import { FileError } from '../../files/errors.ts';
import { refuseOutwardLink } from '../../files/links.ts';
import { moveChanges } from '../../tools/intended-change.ts';
import { type BoundRootContext, defineTool } from '../../tools/tool.ts';
import { storagePath } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const rename = defineTool({
  name: 'rename',
  description: 'Rename or move a file or folder. Nothing may exist at new_path; missing folders above it are made.',
  needs: ['move'],
  effect: 'change',
  subject: ['old_path', 'new_path'],
  input: z.strictObject({ old_path: storagePath, new_path: storagePath }),
  output: z.object({ old_path: z.string(), new_path: z.string() }),
  changes: (args, context: BoundRootContext) => {
    const { from, to } = endsOf(args, context);
    return moveChanges(from, to, false);
  },
  run: async ({ old_path, new_path }, context: BoundRootContext) => {
    const { from, to } = endsOf({ old_path, new_path }, context);
    const conditions = { ifMatch: context.agreedVersion?.(from), ifDestination: context.agreedVersion?.(to) };
    const options = { durable: context.durable, overwrite: false, intoFolders: false, isPrivate: true, ...conditions };
    await move(from, to, options, context);
    return { old_path, new_path };
  },
  text: ({ old_path, new_path }) => `Renamed ${old_path} to ${new_path}.`,
});

/** Returns what is renamed, and to where. */
function endsOf({ old_path, new_path }: { old_path: string; new_path: string }, context: BoundRootContext) {
  const from = targetOf(old_path, context);
  const to = targetOf(new_path, context);
  for (const { path } of [from, to]) {
    if (path.segments.length === 0) throw new FileError('root_itself', { action: 'rename' }, { path: path.raw });
  }
  refuseOutwardLink(from.root, from.path);
  return { from, to };
}
