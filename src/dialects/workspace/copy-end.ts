import { parseCallerPath, type RootPath, toForwardSlashes } from '../../fence/index.ts';
import { resolveInto } from '../../files/copy/copy.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { SourceDestinationArgs } from './source-destination.ts';

/** The arguments of copy. */
export interface CopyArgs extends SourceDestinationArgs {
  readonly if_match?: string | undefined;
}

/**
 * Returns where a copy would be, which is inside the destination if that is a folder; undefined if nothing can be copied
 * there, because the files of the root are on the client's side. Raises `unknown_root`, `tool_not_allowed`,
 * `outside_root` and `invalid_path`.
 */
export function copyEnd(args: CopyArgs, context: CallContext): RootPath | undefined {
  const { root: source } = context.resolveRoot(args.source_root);
  const { root } = context.resolveRoot(args.dest_root);
  if (root === undefined) return undefined;
  context.requireWritable(root);
  const from = source?.parse(args.source_path) ?? parseCallerPath(toForwardSlashes(args.source_path));
  const to = { root, path: root.parse(args.dest_path) };
  return args.if_match === undefined ? resolveInto(from, to) : to;
}

/**
 * Returns the condition of a copy. If it is that a person agreed to what is there, it holds for the place that the
 * person was asked about, which is returned, too.
 */
export function agreedEnd(args: CopyArgs, context: CallContext): { end?: RootPath; ifMatch?: string | undefined } {
  if (args.if_match !== undefined || context.agreedVersion === undefined) return { ifMatch: args.if_match };
  const end = copyEnd(args, context);
  const ifMatch = end && context.agreedVersion(end);
  return end === undefined || ifMatch === undefined ? {} : { end, ifMatch };
}
