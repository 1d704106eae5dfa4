import type { AgentRoot } from '../../agent/bridge/agent-root.ts';
import { parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import { writeFetchedFile, writeFetchedFolder } from '../../files/copy/write-fetched.ts';
import { ToolError } from '../../tools/errors.ts';
import type { CallContext } from '../../tools/tool.ts';
import { agreedEnd, type CopyArgs } from './copy-end.ts';

interface CopyFetchedOptions {
  /** The source root; undefined if it is a local root. */
  readonly agent: AgentRoot | undefined;
  readonly context: CallContext;
}

/**
 * Copies client-side files into a local root. Fetches everything before it writes anything, because the call may be run
 * again until then. Raises `invalid_argument` if the destination is a root of client-side files, and the codes of
 * `AgentRoot.fetch` and of writing.
 */
export async function copyFetched(args: CopyArgs, { agent, context }: CopyFetchedOptions) {
  const { source_path: source, dest_root, dest_path } = args;
  const { root } = context.resolveRoot(dest_root);
  if (root === undefined || agent === undefined) {
    const problem = `nothing can be copied into root ${dest_root}: its files are on the client's side, where they can only be read`;
    throw new ToolError('invalid_argument', { problem }, { path: dest_path, root: dest_root });
  }
  context.requireWritable(root);
  const { end: to = { root, path: root.parse(dest_path) }, ifMatch } = agreedEnd(args, context);
  const fetched = await agent.fetch(source);
  const from = parseCallerPath(toForwardSlashes(source));
  const options = { durable: context.durable, overwrite: args.overwrite, ifMatch };
  if ('bytes' in fetched) {
    const destination = await writeFetchedFile(from, fetched.bytes, to, context, options);
    return { source, destination, is_directory: false, size: fetched.bytes.length };
  }
  const destination = await writeFetchedFolder(from, fetched, to, context, options);
  const skipped = [...fetched.skipped];
  return { source, destination, is_directory: true, ...(skipped.length > 0 && { skipped }) };
}
