import { changeIn } from '../../history/index.ts';
import { entriesOf, type Hunk, kindOf, type Review, type ReviewEntry, takeBackHunks } from '../../review/index.ts';
import { printable } from '../../runtime/printable.ts';
import { CommandError } from '../terminal/command-error.ts';
import { localTime } from '../terminal/local-time.ts';
import { type Output, printNote } from '../terminal/output.ts';
import { operator } from './carry-out.ts';
import type { Target } from './targets.ts';

/** A review of one root. */
export interface TargetReview {
  readonly target: Target;
  readonly review: Review;
}

/** Prints what a review is about, and a list of everything that was removed. */
export function showSummary(output: Output, { target, review }: TargetReview): void {
  const { checkpoint } = review;
  const entries = entriesOf(review);
  const since = checkpoint ? `checkpoint ${checkpoint.name} (${localTime(checkpoint.time)})` : 'the history begins';
  const total = entries.length === 1 ? '1 entry differs' : `${entries.length} entries differ`;
  output.line(output.style('bold', `${target.name}: ${total} since ${since}`));
  for (const { diff } of entries) if (kindOf(diff) === 'removed') output.line(output.style('red', describeEntry(diff)));
}

/** Names an entry and says what happened to it: `removed src/`. */
export function describeEntry(diff: ReviewEntry['diff']): string {
  const folder = (diff.after ?? diff.before)?.type === 'directory' ? '/' : '';
  const from = diff.movedFrom === undefined ? '' : `${printable(diff.movedFrom)} to `;
  return `${kindOf(diff)} ${from}${printable(diff.path)}${folder}`;
}

/**
 * Takes hunks of a file back, and returns the id of the change that this is. Raises `CommandError` if something newer is
 * in the way.
 */
export async function takeBackHunksOf(
  { root, durable }: Target,
  { diff, content }: ReviewEntry,
  hunks: readonly Hunk[],
): Promise<string | undefined> {
  const shown = content();
  if (shown.shown !== 'hunks' || hunks.length === 0) return undefined;
  const caller = operator('review');
  const taken = await takeBackHunks(root, { path: diff.path, texts: shown.texts, hunks }, { caller, durable });
  if (taken.done) return changeIn(root, caller)?.id;
  const path = printable(diff.path);
  if ('conflicts' in taken) {
    printNote(`conflict: ${path} was changed since, at line ${taken.conflicts.join(', ')}`);
    throw new CommandError(`nothing of ${path} was taken back; look at it again with "ringfence review"`);
  }
  const why = taken.why === 'gone' ? 'is no longer there' : 'keeps being changed';
  throw new CommandError(`${path} ${why}; look at it again with "ringfence review"`);
}
