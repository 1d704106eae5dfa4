import * as z from 'zod';
import { type RecordedChange, recordedBy } from '../../history/index.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';

/**
 * The result fields of a call that changed something in a root with history. Schemas name the first alone: every
 * changing tool would repeat the others, which are rare.
 */
interface ChangeFields {
  readonly change?: string;
  /** The change in the root that something was moved out of, if that is another one. */
  readonly source_change?: string;
  /** How many entries were too large to be kept for an undo. */
  readonly not_kept?: number;
}

/**
 * Returns a tool whose result names the change in the history of its root, and says what that could not keep. A tool
 * that only reads is returned as it is.
 */
export function withChange(tool: Tool): Tool {
  const { run, readerText, output, effect } = tool;
  if (effect === 'read' || readerText === undefined) return tool;
  return {
    ...tool,
    output: output.extend({ change: z.string().optional() }),
    run: async (args, context) => ({ ...(await run(args, context)), ...changeFields(args, context) }),
    readerText: (result, args) => {
      // In the first line: a diff may follow.
      const facts = changeText(result as ChangeFields);
      return readerText(result, args).replace(/\n|$/, (end) => facts + end);
    },
  };
}

function changeFields(args: Readonly<Record<string, unknown>>, { caller }: CallContext): ChangeFields {
  const changes = recordedBy(caller);
  const inRoot = (name: unknown): RecordedChange | undefined => changes.find(({ root }) => root === name);
  const target = inRoot(args.root ?? args.dest_root);
  const source = args.source_root === args.dest_root ? undefined : inRoot(args.source_root);
  const unkept = changes.reduce((sum, each) => sum + each.unkept, 0);
  return {
    ...(target && { change: target.change }),
    ...(source && { source_change: source.change }),
    ...(unkept > 0 && { not_kept: unkept }),
  };
}

function changeText({ change, source_change: source, not_kept: notKept }: ChangeFields): string {
  return [
    change && `, change ${change}`,
    source && `, change ${source} in the source root`,
    notKept && `; too large to be kept for an undo: ${notKept === 1 ? 'one entry' : `${notKept} entries`}`,
  ]
    .filter(Boolean)
    .join('');
}
