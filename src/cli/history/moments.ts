import { checkpoints } from '../../history/index.ts';
import { findMoment, type StartMoment } from '../../review/index.ts';
import { CommandError } from '../terminal/command-error.ts';
import type { Target } from './targets.ts';

/** A root together with a moment in its history. */
export interface TargetMoment {
  readonly target: Target;
  readonly moment: StartMoment;
}

/**
 * Finds a moment in the histories of some roots. Roots that do not know the checkpoint or the change are left out.
 * Raises `CommandError` if none of them does.
 */
export function momentsIn(targets: readonly Target[], written: string): TargetMoment[] {
  const found = targets.flatMap((target) => {
    const moment = findMoment(target.history, written);
    return moment === undefined ? [] : [{ target, moment }];
  });
  if (found.length > 0) return found;
  const names = new Set(targets.flatMap(({ history }) => checkpoints(history).map(({ name }) => name)));
  const known = names.size === 0 ? 'there are no checkpoints yet' : `checkpoints are ${[...names].join(', ')}`;
  throw new CommandError(
    `"${written}" is no time, checkpoint or change; give a time such as 2026-01-31T15:00, a duration such as 15m, ` +
      `a checkpoint's name (${known}), or a change's id from "ringfence history"`,
  );
}

/** Finds a moment in the history of one root. Raises `CommandError`. */
export function momentIn(target: Target, written: string): StartMoment {
  return (momentsIn([target], written)[0] as TargetMoment).moment;
}
