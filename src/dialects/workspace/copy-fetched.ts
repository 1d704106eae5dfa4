import type { AgentRoot } from '../../agent/bridge/agent-root.ts';
import { parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import { writeFetchedFile, writeFetchedFolder } from '../../files/copy/write-fetched.ts';
import { ToolError } from '../../tools/errors.ts';
import type { CallContext } from '../../tools/tool.ts';
import type { Ends } from './source-destination.ts';

interface Parties {
  /** The source; undefined if it is a folder of this machine. */
  readonly agent: AgentRoot | undefined;
  readonly context: CallContext;
}

/** Copies from the client's side, of which everything is there before anything is written. The other way there is none. */
export async function copyFetched(args: Ends, { agent, context }: Parties) {
  const { source_path: source, dest_root, dest_path } = args;
  const { root } = context.resolveRoot(dest_root);
  if (root === undefined || agent === undefined) {
    const problem = `nothing can be copied into root ${dest_root}: its files are on the client's side, where they can only be read`;
    throw new ToolError('invalid_argument', { problem }, { path: dest_path, root: dest_root });
  }
  const to = { root, path: root.parse(dest_path) };
  const fetched = await agent.fetch(source);
  const from = parseCallerPath(toForwardSlashes(source));
  if ('bytes' in fetched) {
    const destination = await writeFetchedFile(from, fetched.bytes, to, context);
    return { source, destination, is_directory: false, size: fetched.bytes.length };
  }
  const destination = await writeFetchedFolder(from, fetched, to, context);
  const skipped = [...fetched.skipped];
  return { source, destination, is_directory: true, ...(skipped.length > 0 && { skipped }) };
}
