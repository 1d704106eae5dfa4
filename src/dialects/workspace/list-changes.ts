import * as z from 'zod';
import { RingfenceError } from '../../errors.ts';
import type { CallerPath, Root } from '../../fence/index.ts';
import { isAtOrBelow, type Step } from '../../history/index.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import { defineTool } from '../../tools/tool.ts';
import type { PastChange } from '../../undo/index.ts';
import { changesFor, historyIn, isHidden, mayUndo, stepText } from './past-changes.ts';
import { rootName, SUBJECT } from './shared-schemas.ts';

/** How many steps of one change are shown. */
const MAX_STEPS = 10;
/** The most characters of a list where the client has no limit. */
const MAX_CHARS = 100_000;

type ListedChange = {
  readonly change: string;
  readonly time: string;
  readonly tool: string;
  /** Who made it, for a client that may see the changes of others. */
  readonly client?: string;
  readonly steps: readonly string[];
  readonly steps_omitted?: number;
  readonly undone?: 'partly' | 'yes';
  /** The changes that it took back. */
  readonly undoes?: readonly string[];
};

/** A `ListedChange`, of which the schema says no more than what a model has to know. */
const listed = z.looseObject({ change: z.string() });

export const listChanges = defineTool({
  name: 'list_changes',
  description: 'List your latest changes, newest first.',
  needs: ['list_changes'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    path: z.string().optional(),
    limit: z.int().min(1).max(200).default(20),
  }),
  output: z.object({ changes: z.array(listed), more: z.boolean().optional() }),
  run: async ({ root: name, path, limit }, context) => {
    const root = context.root(name);
    const history = historyIn(root, 'list_changes');
    const wanted = path === undefined ? [''] : pathsOf(root, root.parse(path));
    const changes: ListedChange[] = [];
    let chars = context.results.maxChars ?? MAX_CHARS;
    for await (const change of changesFor(history, context)) {
      if (!mayUndo(change, context)) continue;
      const steps = change.steps.map(({ step }) => step).filter((step) => !isHidden(root, step));
      if (!steps.some((step) => wanted.some((each) => concerns(step, each)))) continue;
      const shown = describe(change, steps, context.client.undo === 'all');
      chars -= JSON.stringify(shown).length;
      if (changes.length === limit || (changes.length > 0 && chars < 0)) return { changes, more: true };
      changes.push(shown);
    }
    return { changes };
  },
  readerText: ({ changes, more }) => {
    if (changes.length === 0) return 'no changes of yours';
    const lines = changes.map((each) => lineOf(each as unknown as ListedChange));
    return [...lines, ...(more ? ['[there are older ones]'] : [])].join('\n');
  },
  summary: ({ changes }) => `${changes.length} changes`,
});

/** Returns a path as the history knows it: where it leads, if it has links, and as it is written. */
function pathsOf(root: Root, path: CallerPath): string[] {
  const written = path.segments.join('/');
  try {
    using found = root.locate(path, { follow: true });
    return [written, found.path];
  } catch (error) {
    if (!(error instanceof RingfenceError)) throw error;
    return [written];
  }
}

/** Reports whether a step is about a path, something below it, or a folder above it with all its content. */
function concerns({ kind, path, to, before, after }: Step, wanted: string): boolean {
  const isTree = kind !== 'make' && kind !== 'unmake' && (before ?? after)?.type === 'directory';
  return [path, to].some(
    (each) => each !== undefined && (isAtOrBelow(each, wanted) || (isTree && isAtOrBelow(wanted, each))),
  );
}

function describe(change: PastChange, steps: readonly Step[], withClient: boolean): ListedChange {
  const { id, time, caller, undone, undoes } = change;
  const omitted = steps.length - MAX_STEPS;
  return {
    change: id,
    time: isoTime(time),
    tool: caller.tool,
    ...(withClient && caller.client !== undefined && { client: caller.client }),
    steps: steps.slice(0, MAX_STEPS).map(stepText),
    ...(omitted > 0 && { steps_omitted: omitted }),
    ...(undone !== 'no' && { undone }),
    ...(undoes.length > 0 && { undoes: [...undoes] }),
  };
}

function lineOf({ change, time, tool, client, steps, steps_omitted: omitted, undone, undoes }: ListedChange): string {
  const facts = [
    ...(undone === undefined ? [] : [undone === 'yes' ? 'undone' : 'partly undone']),
    ...(undoes === undefined ? [] : [`undoes ${undoes.join(', ')}`]),
  ];
  const what = `${steps.join(', ')}${omitted === undefined ? '' : ` and ${omitted} more`}`;
  const who = client === undefined ? '' : ` by ${client}`;
  return `${change} ${time} ${tool}${who}: ${what}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`;
}
