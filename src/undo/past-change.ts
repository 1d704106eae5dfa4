import { type History, isAbout, type PastStep, type StepFilter, timeOfChange } from '../history/index.ts';
import type { Caller } from '../runtime/operation-context.ts';
import { type SettledStep, settledSteps } from './settle.ts';

/** A step that happened. */
export interface HappenedStep extends PastStep {
  /** Whether a later step has taken it back, and was not taken back itself. */
  readonly undone: boolean;
}

/** A change of the past: what one call did in one root. */
export interface PastChange {
  readonly id: string;
  /** When its first step was logged, in milliseconds since 1970. */
  readonly time: number;
  readonly caller: Caller;
  /** What happened of it, oldest first. Never empty. */
  readonly steps: readonly HappenedStep[];
  readonly undone: 'no' | 'partly' | 'yes';
  /** The ids of the changes that it takes back. Empty unless it is an undo. */
  readonly undoes: readonly string[];
}

/** Which changes are meant: those that fit all that is given. */
export interface ChangeFilter {
  readonly ids?: readonly string[] | undefined;
  /** At this time or later, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** After the change with this id. */
  readonly sinceChange?: string | undefined;
  readonly call?: string | undefined;
  readonly client?: string | undefined;
  readonly owner?: string | undefined;
  /** With a step at this path or below it, from the top of the root. */
  readonly path?: string | undefined;
  /** No more than this many, the newest. */
  readonly limit?: number | undefined;
}

/** How far the clocks and logs of several processes may be apart. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Reads the changes of a root's history that happened, newest first by when they began. With a path, reads only what
 * they did at that path and below it, for which most of a long history need not be read.
 */
export function* pastChanges(history: History, { path = '' }: StepFilter = {}): Generator<PastChange, void, undefined> {
  if (path !== '') {
    yield* changesAbout(history, path);
    return;
  }
  const open = new Map<string, HappenedStep[]>();
  for (const step of stepsWithUndone(history)) {
    const id = step.step.change;
    const steps = open.get(id) ?? [];
    if (step.happened) steps.push(step);
    // Steps of several changes may be mixed, but a change begins with its step 0.
    if (step.step.number > 0) open.set(id, steps);
    else {
      open.delete(id);
      if (steps.length > 0) yield toChange(steps.reverse());
    }
  }
  // The beginning of these has been dropped with older history.
  for (const steps of open.values()) if (steps.length > 0) yield toChange(steps.reverse());
}

function* changesAbout(history: History, path: string): Generator<PastChange, void, undefined> {
  const open = new Map<string, HappenedStep[]>();
  for (const step of stepsWithUndone(history, { path })) {
    const { change: id, time } = step.step;
    // A change is complete once all further steps are older than it is.
    for (const [known, steps] of open) {
      if (time >= (timeOfChange(known) ?? 0) - CLOCK_SKEW_MS) break;
      open.delete(known);
      if (steps.length > 0) yield toChange(steps.reverse());
    }
    const steps = open.get(id) ?? [];
    if (step.happened) steps.push(step);
    open.set(id, steps);
  }
  for (const steps of open.values()) if (steps.length > 0) yield toChange(steps.reverse());
}

/** Returns the changes that a filter fits, newest first. With a path, their steps are those about the path. */
export function selectChanges(history: History, filter: ChangeFilter): PastChange[] {
  const found: PastChange[] = [];
  const missing = filter.ids && new Set(filter.ids);
  for (const change of pastChanges(history, filter)) {
    if (isAtOrBefore(change, filter) || found.length === filter.limit) break;
    if (filter.since !== undefined && change.time < filter.since - CLOCK_SKEW_MS) break;
    if (fits(change, filter)) found.push(change);
    missing?.delete(change.id);
    if (missing?.size === 0) break;
  }
  return found;
}

/** Reports whether a change is the one after which changes are meant. With a path, that one may be left out. */
function isAtOrBefore({ id }: PastChange, { sinceChange, path = '' }: ChangeFilter): boolean {
  return sinceChange !== undefined && (path === '' ? id === sinceChange : id <= sinceChange);
}

function fits(change: PastChange, filter: ChangeFilter): boolean {
  const { ids, since, call, client, owner, path } = filter;
  if (ids !== undefined && !ids.includes(change.id)) return false;
  if (since !== undefined && change.time < since) return false;
  if (call !== undefined && change.caller.call !== call) return false;
  if (client !== undefined && change.caller.client !== client) return false;
  if (owner !== undefined && change.caller.owner !== owner) return false;
  return path === undefined || change.steps.some(({ step }) => isAbout(step, path));
}

/** Reads all steps, newest first, with whether they happened and whether they were taken back since. */
function* stepsWithUndone(
  history: History,
  filter?: StepFilter,
): Generator<HappenedStep & SettledStep, void, undefined> {
  const undone = new Set<string>();
  for (const past of settledSteps(history, filter)) {
    const isUndone = undone.delete(past.key);
    if (past.happened && !isUndone && past.step.undoes !== undefined) undone.add(past.step.undoes);
    yield { ...past, undone: isUndone };
  }
}

function toChange(steps: readonly HappenedStep[]): PastChange {
  const { change: id, time, caller } = (steps[0] as HappenedStep).step;
  const undone = steps.filter((step) => step.undone).length;
  const undoes = new Set<string>();
  for (const { step } of steps) if (step.undoes !== undefined) undoes.add(changeOfKey(step.undoes));
  return {
    id,
    time,
    caller,
    steps,
    undone: undone === 0 ? 'no' : undone === steps.length ? 'yes' : 'partly',
    undoes: [...undoes],
  };
}

function changeOfKey(key: string): string {
  return key.slice(0, key.lastIndexOf('.'));
}
