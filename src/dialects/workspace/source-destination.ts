import type * as z from 'zod';
import type { RootPath } from '../../fence/index.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { sourceDestination } from './shared-schemas.ts';

/** The arguments of copy and move. */
export type SourceDestinationArgs = {
  [K in keyof typeof sourceDestination]: z.output<(typeof sourceDestination)[K]>;
};

/**
 * Returns the source and the destination of a copy or move between local roots. Checks both roots before it parses a
 * path. Raises `unknown_root`, `tool_not_allowed`, `outside_root` and `invalid_path`.
 */
export function parseSourceDestination(
  args: SourceDestinationArgs,
  context: CallContext,
): { from: RootPath; to: RootPath } {
  const from = context.root(args.source_root);
  const to = context.root(args.dest_root);
  context.requireWritable(to);
  return {
    from: { root: from, path: from.parse(args.source_path) },
    to: { root: to, path: to.parse(args.dest_path) },
  };
}
