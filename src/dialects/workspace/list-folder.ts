import * as z from 'zod';
import type { AgentEntry } from '../../agent/bridge/agent-root.ts';
import type { Root } from '../../fence/index.ts';
import { type EntryInfo, listEntries } from '../../files/list/list-folder.ts';
import { listTree, type TreeEntry } from '../../files/list/list-tree.ts';
import { IsoTimeFormatter } from '../../runtime/iso-times.ts';
import { printable } from '../../runtime/printable.ts';
import { ToolError } from '../../tools/errors.ts';
import { lengthIn, type NextArguments, nextLine, type ResultForm } from '../../tools/result-form.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { JsonList } from '../../wire/json-list.ts';
import { TextList, textOf } from '../../wire/text-list.ts';
import { entryType, filePath, next, offset, rootName, SUBJECT } from './shared-schemas.ts';

/** Serializing more entries would delay other calls, and a model has no use for them. */
const MAX_ENTRIES = 20_000;
/** The most characters of a tree where the client has no limit, so that it fits into one result. */
const MAX_TREE_CHARS = 1_000_000;

const entry = z.object({
  name: z.string(),
  type: entryType,
  size: z.int().optional(),
  modified_at: z.string().optional(),
  target_type: z.enum(['file', 'directory', 'other', 'external', 'missing']).optional(),
  children_omitted: z.int().optional(),
});

const input = z.strictObject({
  root: rootName,
  path: filePath,
  depth: z.int().min(1).max(10).default(1),
  offset,
});
type Input = z.output<typeof input>;

export const listFolder = defineTool({
  name: 'list_folder',
  description:
    'List a folder, hidden entries included, by name; "" is the root. With depth a tree: names are paths in the folder, and children_omitted counts what did not fit. To find by name use glob.',
  needs: ['list_folder'],
  effect: 'read',
  paged: true,
  subject: SUBJECT,
  input,
  output: z.object({
    entries: z.array(entry),
    count: z.int(),
    truncated: z.literal(true).optional(),
    next,
  }),
  run: async (args, context) => {
    const { root, agent } = context.resolveRoot(args.root);
    if (args.depth > 1) {
      if (agent === undefined) return runTree(args, root, context);
      const problem = 'depth works on folders of the server only';
      throw new ToolError('invalid_argument', { problem, argument: 'depth' }, { path: args.path });
    }
    const list = new EntryList(context.results);
    const count =
      agent === undefined
        ? await addLocalEntries(list, root, args, context)
        : addAgentEntries(list, await agent.list(args.path), args.offset);
    const end = args.offset + list.length;
    const more = end < count && list.length > 0;
    return {
      entries: list.entries,
      count,
      ...(end < count && { truncated: true as const }),
      ...(more && { next: { offset: end } }),
    };
  },
  readerText: ({ entries, count, truncated, next }, args) => {
    const text = textOf(entries);
    if (next !== undefined) return text + nextLine(next as NextArguments, shownOf(args, count));
    return text + (truncated ? `[${count} entries, not all shown]` : text === '' ? nothingIn(args, count) : '');
  },
  summary: ({ count }) => `${count} entries`,
});

const shownOf = ({ depth }: Input, count: number): string =>
  depth > 1 ? `${count} entries, not all shown` : `of ${count} entries`;

const nothingIn = ({ offset }: Input, count: number): string =>
  offset > 0 && count > 0 ? `[no more; ${count} entries]` : '[empty folder]';

/** One entry of a folder. Of a client-side file, size and time may be unknown. */
interface ListedEntry {
  readonly type: z.output<typeof entryType>;
  readonly size?: number | undefined;
  readonly modifiedAt?: string | undefined;
  readonly targetType?: string | undefined;
  readonly omitted?: number | undefined;
}

/** The entries of a result, as JSON or as lines of text, up to the client's limit. */
class EntryList {
  readonly entries: JsonList<z.output<typeof entry>> | TextList;

  constructor(form: ResultForm) {
    const { mode, maxChars } = form;
    this.entries = mode === 'text' ? new TextList(maxChars, lengthIn(form)) : new JsonList(maxChars);
  }

  get length(): number {
    return this.entries.length;
  }

  /** Adds an entry. Returns false if it does not fit. */
  add(name: string, listed: ListedEntry): boolean {
    const { entries } = this;
    return entries instanceof TextList
      ? entries.add(entryLine(name, listed))
      : entries.addJson(entryJson(name, listed));
  }
}

function entryJson(name: string, { type, size, modifiedAt, targetType, omitted }: ListedEntry): string {
  const bytes = size === undefined ? '' : `,"size":${size}`;
  const time = modifiedAt === undefined ? '' : `,"modified_at":"${modifiedAt}"`;
  const target = targetType === undefined ? '' : `,"target_type":"${targetType}"`;
  const rest = omitted === undefined ? '' : `,"children_omitted":${omitted}`;
  return `{"name":${JSON.stringify(name)},"type":"${type}"${bytes}${time}${target}${rest}}`;
}

/**
 * Formats an entry as a line with columns: name, size in bytes, time to the minute. Folders end in a slash and show no
 * size.
 */
function entryLine(name: string, { type, size, modifiedAt, targetType, omitted }: ListedEntry): string {
  const plain = printable(name);
  const shown = type === 'directory' ? `${plain}/` : type === 'symlink' ? `${plain} -> ${targetType ?? '?'}` : plain;
  const bytes = type === 'directory' || size === undefined ? '-' : String(size);
  const rest = omitted === undefined ? '' : `\t[${omitted} not shown]`;
  return `${shown}\t${bytes}\t${modifiedAt === undefined ? '-' : `${modifiedAt.slice(0, 16)}Z`}${rest}\n`;
}

async function addLocalEntries(list: EntryList, root: Root, args: Input, context: CallContext): Promise<number> {
  const times = new IsoTimeFormatter();
  const onEntry = (name: string, { type, size, modifiedMs, targetType }: EntryInfo): boolean =>
    list.add(name, { type, size, modifiedAt: times.format(modifiedMs), targetType });
  const { statThread } = context;
  const options = { maxEntries: MAX_ENTRIES, offset: args.offset, statThread, onEntry };
  return listEntries(root, root.parse(args.path), options, context);
}

/** Adds client-side entries. Returns the number of all entries. */
function addAgentEntries(list: EntryList, all: readonly AgentEntry[], from: number): number {
  for (const { name, type, size, modified } of all.slice(from, from + MAX_ENTRIES)) {
    if (!list.add(name, { type, size, modifiedAt: modified?.toISOString() })) break;
  }
  return all.length;
}

/** The characters that a folder may take more once it is known how many of its children are left out. */
const OMITTED_CHARS = 30;

async function runTree(args: Input, root: Root, context: CallContext) {
  const { mode, maxChars = MAX_TREE_CHARS } = context.results;
  const lengthOf = lengthIn(context.results);
  const times = new IsoTimeFormatter();
  const listed = ({ type, size, modifiedMs, targetType, omitted }: TreeEntry): ListedEntry => ({
    type,
    size,
    modifiedAt: times.format(modifiedMs),
    targetType,
    omitted,
  });
  // On a later page, a folder may be missing above its children, so they are shown by their paths.
  const shown = mode === 'text' && args.offset === 0 ? indented : (path: string) => path;
  let left = maxChars;
  let isFirst = true;
  const fits = (found: TreeEntry): boolean => {
    left -= lengthOf((mode === 'text' ? entryLine : entryJson)(shown(found.path), listed(found))) + 1;
    if (found.type === 'directory') left -= OMITTED_CHARS;
    // The first entry is always listed, so that each page leads on to the next.
    const isListed = left >= 0 || isFirst;
    isFirst = false;
    return isListed;
  };
  const options = { depth: args.depth, maxEntries: MAX_ENTRIES, offset: args.offset, fits };
  const { entries, count, more } = await listTree(root, root.parse(args.path), options, context);
  const list = new EntryList({ mode, maxChars: undefined, maxResultChars: undefined });
  for (const found of entries) list.add(shown(found.path), listed(found));
  return {
    entries: list.entries,
    count,
    ...(more && { truncated: true as const, next: { offset: args.offset + entries.length } }),
  };
}

/** Shows an entry of a tree by its name, under its folder. */
function indented(path: string): string {
  const parts = path.split('/');
  return `${'  '.repeat(parts.length - 1)}${parts.at(-1)}`;
}
