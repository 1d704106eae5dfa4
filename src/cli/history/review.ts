import { ConfigError } from '../../config/config-error.ts';
import {
  acceptHunksOf,
  acceptReview,
  decidableHunks,
  entriesOf,
  makeReview,
  planTakeBack,
} from '../../review/index.ts';
import { printable } from '../../runtime/printable.ts';
import { CommandError } from '../terminal/command-error.ts';
import { Output } from '../terminal/output.ts';
import { canAsk } from '../terminal/questions.ts';
import { applyPlans, showPlans } from './carry-out.ts';
import { type Consent, confirmed } from './consent.ts';
import { reviewInteractively } from './review-interactively.ts';
import { diffJson, showDiff, showHunk } from './show-diff.ts';
import { showSummary, type TargetReview, takeBackHunksOf } from './target-review.ts';
import { openTargets, type Target } from './targets.ts';
import { count } from './words.ts';

/** The options of `ringfence review`. */
export interface ReviewFlags extends Consent {
  readonly config?: string;
  readonly accept?: boolean;
  readonly takeBack?: boolean;
  readonly hunk?: readonly string[];
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Shows, accepts or takes back what happened since the last checkpoint. Raises `ConfigError` and `CommandError`. */
export async function review(written: string | undefined, flags: ReviewFlags): Promise<void> {
  if (flags.accept && flags.takeBack) throw new ConfigError('give either --accept or --take-back');
  if (flags.hunk !== undefined && !flags.accept && !flags.takeBack)
    throw new ConfigError('--hunk: say what to do with it: --accept or --take-back');
  const output = new Output();
  using targets = await openTargets(written, flags.config);
  const reviews = targets.all.map((target) => ({ target, review: makeReview(target.history, { path: target.path }) }));
  if (flags.hunk !== undefined) await decideHunks(output, reviews, flags, flags.hunk);
  else if (flags.accept) await acceptAll(output, reviews, flags);
  else if (flags.takeBack) await takeBackAll(output, reviews, flags, targets.suffix);
  else if (flags.json) output.json(reviews.map(reviewJson));
  else if (output.isTerminal && canAsk()) await reviewInteractively(output, reviews, targets.suffix);
  else for (const each of reviews) showReview(output, each);
  await output.flushed();
}

/** Prints a review as one diff, with a list of all deletions above it. */
function showReview(output: Output, each: TargetReview): void {
  showSummary(output, each);
  for (const { diff, content } of entriesOf(each.review)) showDiff(output, diff, content());
}

function reviewJson({ target, review: made }: TargetReview): object {
  return {
    root: target.name,
    checkpoint: made.checkpoint && { name: made.checkpoint.name, time: new Date(made.checkpoint.time).toISOString() },
    entries: entriesOf(made).map(({ diff, content }) => diffJson(target.name, diff, content())),
  };
}

async function acceptAll(output: Output, reviews: readonly TargetReview[], { dryRun }: ReviewFlags): Promise<void> {
  for (const { target, review: made } of reviews) {
    const entries = count(entriesOf(made).length, 'difference');
    const checkpoint = dryRun ? undefined : await acceptReview(made);
    const point = checkpoint === undefined ? '' : `: checkpoint ${checkpoint.name}`;
    output.line(`${dryRun ? 'would accept' : 'accepted'} ${entries} in ${nameOf(target)}${point}`);
  }
}

async function takeBackAll(
  output: Output,
  reviews: readonly TargetReview[],
  flags: ReviewFlags,
  suffix: string,
): Promise<void> {
  const plans = reviews.flatMap(({ target, review: made }) =>
    planTakeBack(made, flags.force === true).map((plan) => ({ target, plan })),
  );
  const partly = reviews.flatMap(({ target, review: { units } }) =>
    units.filter((unit) => unit.isPartlyAccepted).map((unit) => ({ target, unit })),
  );
  showPlans(output, plans);
  for (const { unit } of partly) output.line(`take back what was not accepted of ${printable(unit.diff.path)}`);
  if (partly.length === 0 && plans.every(({ plan }) => plan.actions.length === 0)) {
    output.line('nothing to take back');
    return;
  }
  if (!(await confirmed(flags, 'Take this back?'))) return;
  await applyPlans(output, plans, suffix);
  for (const { target, unit } of partly) await takeBackHunksOf(target, unit, decidableHunks(unit));
}

async function decideHunks(
  output: Output,
  [first]: readonly TargetReview[],
  flags: ReviewFlags,
  numbers: readonly string[],
): Promise<void> {
  const { target, review: made } = first as TargetReview;
  if (target.path === undefined) throw new ConfigError('--hunk: give the file that it is in, as ROOT:PATH');
  const entry = entriesOf(made).find(({ diff }) => diff.path === target.path);
  const hunks = entry === undefined ? [] : decidableHunks(entry);
  const wrong = numbers.find((number) => !hunks.some((hunk) => String(hunk.number) === number));
  if (wrong !== undefined || entry === undefined) {
    const there = `${count(hunks.length, 'hunk')} to decide on`;
    throw new CommandError(
      `--hunk: no hunk "${wrong}"; ${nameOf(target)} has ${there}, see "ringfence review ${nameOf(target)}"`,
    );
  }
  const chosen = hunks.filter((hunk) => numbers.includes(String(hunk.number)));
  for (const hunk of chosen) showHunk(output, hunk, true);
  const what = `${count(chosen.length, 'hunk')} of ${nameOf(target)}`;
  if (flags.accept) {
    if (!flags.dryRun) await acceptHunksOf(made, entry, chosen);
    output.line(`${flags.dryRun ? 'would accept' : 'accepted'} ${what}`);
  } else if (await confirmed(flags, 'Take this back?')) {
    await takeBackHunksOf(target, entry, chosen);
    output.line(`took back ${what}`);
  }
}

function nameOf({ name, path }: Target): string {
  return path === undefined ? name : `${name}:${printable(path)}`;
}
