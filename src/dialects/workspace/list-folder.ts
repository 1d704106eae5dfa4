import * as z from 'zod';
import type { AgentEntry } from '../../bridge/agent-root.ts';
import type { Root } from '../../fence/index.ts';
import { IsoTimes } from '../../ops/iso-times.ts';
import { type Facts, listFirst } from '../../ops/list-folder.ts';
import { firstFitting, mostSentBytes, sentBytes } from '../../tools/result-size.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { entryType, filePath, rootName, SUBJECT } from './fields.ts';

/** More would keep others waiting while they are written down, and tell a model nothing. */
const MAX_ENTRIES = 20_000;

/** Whatever an entry of a listing takes in a result, except for its name. */
const MOST_BESIDE_NAME = sentBytes({
  name: '',
  type: 'directory',
  size: Number.MAX_SAFE_INTEGER,
  modified_at: '+275760-09-13T00:00:00.000Z',
  target_type: 'directory',
});

export const listFolder = defineTool({
  name: 'list_folder',
  description:
    'List the direct children of a folder, hidden ones included, sorted by name. "" or "." is the root. For recursive listing use glob.',
  needs: ['list_folder'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({
    entries: z.array(
      z.object({
        name: z.string(),
        type: entryType,
        size: z.int().optional(),
        modified_at: z.string().optional(),
        target_type: z.enum(['file', 'directory', 'other', 'external', 'missing']).optional(),
      }),
    ),
    count: z.int(),
    truncated: z.literal(true).optional().describe('Only the first entries fit; narrow with glob'),
  }),
  run: async (args, context) => {
    const { root, agent } = context.place(args.root);
    const { listed, count } =
      agent === undefined ? await ownEntries(root, args.path, context) : agentEntries(await agent.list(args.path));
    const entries = [...fitting(listed)];
    return { entries, count, ...(entries.length < count && { truncated: true as const }) };
  },
});

async function ownEntries(root: Root, path: string, context: CallContext) {
  const times = new IsoTimes();
  const tell = (name: string, { type, size, modifiedMs, targetType }: Facts) =>
    targetType === undefined
      ? { name, type, size, modified_at: times.format(modifiedMs) }
      : { name, type, size, modified_at: times.format(modifiedMs), target_type: targetType };
  const options = { most: MAX_ENTRIES, pool: context.search, tell };
  const { entries, count } = await listFirst(root, root.parse(path), options, context);
  return { listed: entries, count };
}

/** As many of the first as one result can carry. They are weighed only if they might be too many. */
function fitting<T extends { readonly name: string }>(listed: readonly T[]): readonly T[] {
  const all = firstFitting(listed, ({ name }) => MOST_BESIDE_NAME + mostSentBytes(name));
  return all === listed ? listed : firstFitting(listed, ({ name }) => MOST_BESIDE_NAME + sentBytes(name));
}

/** Of a file on the client's side, not all may be known. */
function agentEntries(all: readonly AgentEntry[]) {
  const listed = all.slice(0, MAX_ENTRIES).map(({ name, type, size, modified }) => ({
    name,
    type,
    ...(size !== undefined && { size }),
    ...(modified !== undefined && { modified_at: modified.toISOString() }),
  }));
  return { listed, count: all.length };
}
