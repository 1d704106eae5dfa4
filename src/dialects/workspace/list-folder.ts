import * as z from 'zod';
import type { AgentEntry } from '../../agent/bridge/agent-root.ts';
import type { Root } from '../../fence/index.ts';
import { type EntryInfo, listEntries } from '../../files/list/list-folder.ts';
import { IsoTimeFormatter } from '../../runtime/iso-times.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
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
  paged: true,
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: z.object({
    entries: z.array(entry),
    count: z.int(),
    truncated: z.literal(true).optional().describe('Only the first entries fit; narrow with glob'),
  }),
  run: async (args, context) => {
    const { root, agent } = context.resolveRoot(args.root);
    const { mode, maxChars } = context.results;
    const entries = mode === 'text' ? new EntryLines(maxChars) : new EntryJson(maxChars);
    const count =
      agent === undefined
        ? await addLocalEntries(entries, root, args.path, context)
        : addAgentEntries(entries, await agent.list(args.path));
    const { list } = entries;
    return { entries: list, count, ...(list.length < count && { truncated: true as const }) };
  },
  readerText: ({ entries, count, truncated }) =>
    textOf(entries) + (truncated ? `[the first of ${count} entries]` : count === 0 ? '[empty folder]' : ''),
  summary: ({ count }) => `${count} entries`,
});

/** One entry of a folder. Of a client-side file, size and time may be unknown. */
interface ListedEntry {
  readonly type: z.output<typeof entryType>;
  readonly size?: number | undefined;
  readonly modifiedAt?: string | undefined;
  readonly targetType?: string | undefined;
}

/** Takes the entries of a folder while it is listed. */
interface EntrySink {
  add(name: string, entry: ListedEntry): void;
}

/** Writes entries as JSON. */
class EntryJson implements EntrySink {
  readonly list: Entries;

  constructor(maxChars: number | undefined) {
    this.list = new JsonList(maxChars);
  }

  add(name: string, { type, size, modifiedAt, targetType }: ListedEntry): void {
    const bytes = size === undefined ? '' : `,"size":${size}`;
    const time = modifiedAt === undefined ? '' : `,"modified_at":"${modifiedAt}"`;
    const target = targetType === undefined ? '' : `,"target_type":"${targetType}"`;
    this.list.addJson(`{"name":${JSON.stringify(name)},"type":"${type}"${bytes}${time}${target}}`);
  }
}

/** Writes entries as lines with columns: name, size in bytes, time to the minute. Folders end in a slash and show no size. */
class EntryLines implements EntrySink {
  readonly list: TextList;

  constructor(maxChars: number | undefined) {
    this.list = new TextList(maxChars);
  }

  add(name: string, { type, size, modifiedAt, targetType }: ListedEntry): void {
    const shown = type === 'directory' ? `${name}/` : type === 'symlink' ? `${name} -> ${targetType ?? '?'}` : name;
    const bytes = type === 'directory' || size === undefined ? '-' : String(size);
    this.list.add(`${shown}\t${bytes}\t${modifiedAt === undefined ? '-' : `${modifiedAt.slice(0, 16)}Z`}\n`);
  }
}

async function addLocalEntries(entries: EntrySink, root: Root, path: string, context: CallContext): Promise<number> {
  const times = new IsoTimeFormatter();
  const onEntry = (name: string, { type, size, modifiedMs, targetType }: EntryInfo): void =>
    entries.add(name, { type, size, modifiedAt: times.format(modifiedMs), targetType });
  return listEntries(
    root,
    root.parse(path),
    { maxEntries: MAX_ENTRIES, statThread: context.statThread, onEntry },
    context,
  );
}

/** Adds client-side entries. Returns the number of all entries. */
function addAgentEntries(entries: EntrySink, all: readonly AgentEntry[]): number {
  for (const { name, type, size, modified } of all.slice(0, MAX_ENTRIES)) {
    entries.add(name, { type, size, modifiedAt: modified?.toISOString() });
  }
  return all.length;
}
