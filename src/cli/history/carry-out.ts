import { isFinal } from '../../review/index.ts';
import type { Caller } from '../../runtime/operation-context.ts';
import { printable } from '../../runtime/printable.ts';
import { type AppliedUndo, applyUndo, type Conflict, isUndoError, type UndoPlan } from '../../undo/index.ts';
import { CommandError } from '../terminal/command-error.ts';
import { type Output, printNote } from '../terminal/output.ts';
import type { Target } from './targets.ts';
import { count, describeAction, describeConflict } from './words.ts';

/** A plan for one root. */
export interface TargetPlan {
  readonly target: Target;
  readonly plan: UndoPlan;
}

/** Who makes the changes of the command line. */
export function operator(tool: string): Caller {
  return { tool, client: 'command line' };
}

/** Prints what plans will do. Raises `CommandError` if they have conflicts and are not forced: then they do nothing. */
export function showPlans(output: Output, plans: readonly TargetPlan[]): void {
  const conflicts = plans.flatMap(({ plan }) => plan.conflicts);
  const isRefused = conflicts.length > 0 && !plans.every(({ plan }) => plan.force);
  if (!isRefused) for (const each of plans) showActions(output, each, plans.length > 1);
  for (const conflict of conflicts) printNote(`conflict: ${describeConflict(conflict)}`);
  if (isRefused) throw new CommandError(refusal(conflicts));
  const left = conflicts.filter(isFinal).length;
  if (left > 0) printNote(`${count(left, 'step')} cannot be taken back and will be left as is`);
}

function showActions(output: Output, { target, plan }: TargetPlan, isOneOfSeveral: boolean): void {
  if (isOneOfSeveral && plan.actions.length > 0) output.line(output.style('bold', `${target.name}:`));
  // What disappears is read first.
  const sorted = [...plan.actions].sort((a, b) => Number(b.effect === 'remove') - Number(a.effect === 'remove'));
  for (const action of sorted) {
    const text = describeAction(action);
    output.line(action.effect === 'remove' ? output.style('red', text) : text);
  }
}

function refusal(conflicts: readonly Conflict[]): string {
  const advice = conflicts.every(isFinal)
    ? '--force takes back the rest'
    : 'choose fewer changes, take back the newer ones first, or give --force, which keeps the newer content in the history';
  return `${count(conflicts.length, 'conflict')}, so nothing was taken back; ${advice}`;
}

/** Carries out plans, and says how to reverse that. Returns the ids of the changes that it made. Raises `CommandError`. */
export async function applyPlans(output: Output, plans: readonly TargetPlan[], suffix: string): Promise<string[]> {
  const made: string[] = [];
  for (const { target, plan } of plans) {
    if (plan.actions.length === 0) continue;
    const { change, undone } = await apply(target, plan);
    if (change === undefined) continue;
    made.push(change);
    const reverse = `ringfence undo ${change} ${target.name}${suffix}`;
    output.line(`took back ${count(undone, 'step')} in ${target.name}; to reverse that: ${reverse}`);
  }
  return made;
}

async function apply({ name, durable }: Target, plan: UndoPlan): Promise<AppliedUndo> {
  try {
    return await applyUndo(plan, { caller: operator('undo'), durable });
  } catch (error) {
    if (isUndoError(error, 'undo_conflict')) {
      for (const conflict of error.details.conflicts) printNote(`conflict: ${describeConflict(conflict)}`);
      throw new CommandError(`something was changed in the meantime, so nothing was taken back in ${name}; try again`);
    }
    if (isUndoError(error, 'undo_incomplete')) {
      const { change, paths } = error.details;
      const names = paths.map(printable).join(', ');
      throw new CommandError(
        `failed half-way, and these stay as they are now: ${names}; "ringfence diff ${change}" shows what was done to them`,
      );
    }
    throw error;
  }
}
