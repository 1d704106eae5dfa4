import * as z from 'zod';
import type { AgentEntry } from '../../agent/bridge/agent-root.ts';
import type { Root } from '../../fence/index.ts';
import { type EntryInfo, listEntries } from '../../files/list/list-folder.ts';
import { IsoTimeFormatter } from '../../runtime/iso-times.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { entryType, filePath, rootName, SUBJECT } from './shared-schemas.ts';

/** Serializing more entries would delay other calls, and a model has no use for them. */
const MAX_ENTRIES = 20_000;

const entry = z.object({
  name: z.string(),
  type: entryType,
  size: z.int().optional(),
  modified_at: z.string().optional(),
  target_type: z.enum(['file', 'directory', 'other', 'external', 'missing']).optional(),
});
type Entries = JsonList<z.output<typeof entry>>;

export const listFolder = defineTool({
  name: 'list_folder',
  description:
    'List the direct children of a folder, hidden ones included, sorted by name. "" or "." is the root. For recursive listing use glob.',
  needs: ['list_folder'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({
    entries: z.array(entry),
    count: z.int(),
    truncated: z.literal(true).optional().describe('Only the first entries fit; narrow with glob'),
  }),
  run: async (args, context) => {
    const { root, agent } = context.resolveRoot(args.root);
    const entries: Entries = new JsonList();
    const count =
      agent === undefined
        ? await addLocalEntries(entries, root, args.path, context)
        : addAgentEntries(entries, await agent.list(args.path));
    return { entries, count, ...(entries.length < count && { truncated: true as const }) };
  },
});

async function addLocalEntries(entries: Entries, root: Root, path: string, context: CallContext): Promise<number> {
  const times = new IsoTimeFormatter();
  const onEntry = (name: string, { type, size, modifiedMs, targetType }: EntryInfo): void => {
    const target = targetType === undefined ? '' : `,"target_type":"${targetType}"`;
    const time = times.format(modifiedMs);
    entries.addJson(
      `{"name":${JSON.stringify(name)},"type":"${type}","size":${size},"modified_at":"${time}"${target}}`,
    );
  };
  return listEntries(
    root,
    root.parse(path),
    { maxEntries: MAX_ENTRIES, statThread: context.statThread, onEntry },
    context,
  );
}

/** Adds client-side entries, whose size and time may be unknown. Returns the number of all entries. */
function addAgentEntries(entries: Entries, all: readonly AgentEntry[]): number {
  for (const { name, type, size, modified } of all.slice(0, MAX_ENTRIES)) {
    entries.add({ name, type, size, modified_at: modified?.toISOString() });
  }
  return all.length;
}
