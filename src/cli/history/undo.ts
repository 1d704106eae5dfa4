import type { Root } from '../../fence/index.ts';
import { sweepLeftovers } from '../../files/sweep/sweep-leftovers.ts';
import { netChanges } from '../../review/index.ts';
import { planUndo, settle } from '../../undo/index.ts';
import { Output } from '../terminal/output.ts';
import { applyPlans, showPlans } from './carry-out.ts';
import { assertChosen, type ChangeFlags, choose, readArguments } from './chosen-changes.ts';
import { type Consent, confirmed } from './consent.ts';
import { openTargets } from './targets.ts';

/** A large tree is swept to its end by the next server. */
const SWEEP_MS = 2_000;

/** The options of `ringfence undo`. */
export interface UndoFlags extends ChangeFlags, Consent {
  readonly config?: string;
  readonly force?: boolean;
}

/** Takes changes back. Raises `ConfigError` and `CommandError`. */
export async function undo(words: readonly string[], flags: UndoFlags): Promise<void> {
  const written = readArguments(words, flags);
  assertChosen(written, flags, ['since', 'call', 'client']);
  const output = new Output();
  using targets = await openTargets(written.root, flags.config);
  // What killed processes left open would otherwise look like the work of other programs.
  for (const { history } of targets.all) settle(history);
  const plans = choose(targets.all, written, flags).map(({ target, changes }) => ({
    target,
    plan: planUndo(target.history, target.history.root, netChanges(changes), { path: target.path, force: flags.force }),
  }));
  showPlans(output, plans);
  if (plans.every(({ plan }) => plan.actions.length === 0)) output.line('nothing to take back');
  else if (await confirmed(flags, 'Take this back?')) {
    await applyPlans(output, plans, targets.suffix);
    for (const { root } of targets.all) await sweep(root);
  }
  await output.flushed();
}

/** Removes the temporary files that killed processes left, which nobody has taken back, for as long as `SWEEP_MS`. */
async function sweep(root: Root): Promise<void> {
  const stopping = new AbortController();
  // It also keeps this process alive while the sweep rests.
  const timer = setTimeout(() => stopping.abort(), SWEEP_MS);
  try {
    await sweepLeftovers(root, stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
