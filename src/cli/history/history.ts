import { ConfigError } from '../../config/config-error.ts';
import { type Checkpoint, checkpoints } from '../../history/index.ts';
import { changesSince } from '../../review/index.ts';
import { printable } from '../../runtime/printable.ts';
import { type ChangeFilter, type HappenedStep, type PastChange, selectChanges } from '../../undo/index.ts';
import { localTime } from '../terminal/local-time.ts';
import { Output } from '../terminal/output.ts';
import { momentsIn } from './moments.ts';
import { showStatistics } from './statistics.ts';
import { openTargets, type Target } from './targets.ts';
import { describeStep } from './words.ts';

/** The options of `ringfence history`. */
export interface HistoryFlags {
  readonly config?: string;
  readonly since?: string;
  readonly client?: string;
  readonly limit?: string;
  readonly json?: boolean;
  readonly stats?: boolean;
}

const DEFAULT_LIMIT = 100;
/** How many steps of one change are listed, besides those that removed something. */
const MAX_STEPS = 10;

/** Lists changes, newest first, and the checkpoints between them. Raises `ConfigError` and `CommandError`. */
export async function history(written: string | undefined, flags: HistoryFlags): Promise<void> {
  const limit = limitOf(flags);
  const output = new Output();
  using targets = await openTargets(written, flags.config);
  if (flags.stats) {
    await showStatistics(output, targets.all, flags.json === true);
    return;
  }
  const since = flags.since === undefined ? undefined : momentsIn(targets.all, flags.since);
  const listed = targets.all.map((target) => {
    const filter = { path: target.path, client: flags.client, limit: limit && limit + 1 };
    const moment = since?.find((each) => each.target === target)?.moment;
    if (since !== undefined && moment === undefined) return { target, changes: [] };
    return { target, changes: moment ? changesSince(target.history, moment, filter) : select(target, filter) };
  });
  if (flags.json)
    output.json(
      listed.flatMap(({ target, changes }) => changes.slice(0, limit).map((each) => changeJson(target, each))),
    );
  else
    for (const { target, changes } of listed)
      show(output, target, changes, { limit, isOne: listed.length === 1, fromStart: since === undefined });
  await output.flushed();
}

function select({ history: from }: Target, filter: ChangeFilter): PastChange[] {
  return selectChanges(from, filter);
}

/** Programs get everything unless they limit it. */
function limitOf({ limit, json, since }: HistoryFlags): number | undefined {
  if (limit === undefined) return json || since !== undefined ? undefined : DEFAULT_LIMIT;
  if (/^[1-9]\d{0,8}$/.test(limit)) return Number(limit);
  throw new ConfigError(`--limit: must be a whole number from 1 on, got "${limit}"`);
}

interface ShowOptions {
  readonly limit: number | undefined;
  readonly isOne: boolean;
  /** Whether nothing older is left out, except by the limit. */
  readonly fromStart: boolean;
}

function show(output: Output, target: Target, found: readonly PastChange[], options: ShowOptions): void {
  const { limit, isOne, fromStart } = options;
  if (!isOne) output.line(output.style('bold', `${target.name}:`));
  const changes = found.slice(0, limit);
  const isAll = fromStart && found.length === changes.length;
  const oldest = isAll ? 0 : (changes.at(-1)?.time ?? 0);
  const points = target.path === undefined ? checkpoints(target.history).filter(({ time }) => time >= oldest) : [];
  for (const change of changes) {
    while ((points[0]?.time ?? 0) >= change.time) showCheckpoint(output, points.shift() as Checkpoint);
    showChange(output, change);
  }
  for (const point of points) showCheckpoint(output, point);
  if (changes.length === 0 && points.length === 0) output.line('no changes');
  if (found.length > changes.length) output.line(output.style('dim', `… older ones: --limit ${changes.length * 10}`));
}

function showCheckpoint(output: Output, { name, time }: Checkpoint): void {
  output.line(output.style('yellow', `${localTime(time)}  checkpoint ${name}`));
}

function showChange(output: Output, change: PastChange): void {
  const { id, time, caller } = change;
  const who = printable(caller.client ?? 'unknown client');
  const [first, ...more] = stepLines(change.steps);
  const head = `${localTime(time)}  ${output.style('cyan', id)}  ${who}  ${printable(caller.tool)}  `;
  output.line(`${head}${first}${stateOf(output, change)}`);
  for (const line of more) output.line(`    ${line}`);
}

/** Deletions come first, and all of them are listed. */
function stepLines(steps: readonly HappenedStep[]): string[] {
  const removes = ({ step }: HappenedStep): boolean => step.kind === 'remove' || step.kind === 'unmake';
  const sorted = [...steps.filter(removes), ...steps.filter((step) => !removes(step))];
  const shown = Math.max(MAX_STEPS, steps.filter(removes).length);
  const lines = sorted.slice(0, shown).map(({ step, undone }) => describeStep(step) + (undone ? ' (undone)' : ''));
  return sorted.length > shown ? [...lines, `… and ${sorted.length - shown} more steps`] : lines;
}

function stateOf(output: Output, { undone, undoes, steps }: PastChange): string {
  const notes = [
    ...(undoes.length > 0 ? [`takes back ${undoes.join(', ')}`] : []),
    // With one step, its own line says so.
    ...(undone !== 'no' && steps.length > 1 ? [undone === 'yes' ? 'undone' : 'partly undone'] : []),
  ];
  return notes.length === 0 ? '' : `  ${output.style('dim', `[${notes.join('; ')}]`)}`;
}

function changeJson({ name }: Target, { id, time, caller, undone, undoes, steps }: PastChange): object {
  return {
    root: name,
    id,
    time: new Date(time).toISOString(),
    ...caller,
    undone,
    undoes,
    steps: steps.map(({ step, undone: isUndone, done }) => ({
      kind: step.kind,
      path: step.path,
      ...(step.to !== undefined && { to: step.to }),
      before: step.before && { type: step.before.type, size: step.before.size },
      after: (done?.after ?? step.after) && {
        type: (done?.after ?? step.after)?.type,
        size: (done?.after ?? step.after)?.size,
      },
      ...(step.unkept !== undefined && { unkept: step.unkept }),
      undone: isUndone,
    })),
  };
}
