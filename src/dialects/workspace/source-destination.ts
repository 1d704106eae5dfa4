import type * as z from 'zod';
import type { RootPath } from '../../fence/index.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { ends } from './shared-schemas.ts';

export type Ends = { [K in keyof typeof ends]: z.output<(typeof ends)[K]> };

/** Both ends of a copy or move. Both roots are asked before either path is looked at. */
export function endsOf(args: Ends, context: CallContext): { from: RootPath; to: RootPath } {
  const from = context.root(args.source_root);
  const to = context.root(args.dest_root);
  return {
    from: { root: from, path: from.parse(args.source_path) },
    to: { root: to, path: to.parse(args.dest_path) },
  };
}
