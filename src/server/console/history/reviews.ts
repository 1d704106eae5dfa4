import { changeIn, checkpoints } from '../../../history/index.ts';
import {
  acceptHunksOf,
  acceptReview,
  acceptUnits,
  decidableHunks,
  hunkHash,
  makeReview,
  planTakeBack,
  planTakeBackOf,
  type Review,
  type ReviewUnit,
  takeBackHunks,
} from '../../../review/index.ts';
import { applyUndo, type PastChange, type UndoPlan } from '../../../undo/index.ts';
import type { Review as ShownReview } from '../model/api-types.ts';
import { Refusal } from '../web/replies.ts';
import { fileDiffs } from './file-diffs.ts';
import { conflictRefusal, orRefuse, type ServedHistory } from './served-history.ts';

/** What somebody decided, and about what. */
export interface Decision {
  /** The id of the review that was shown. */
  readonly id: string;
  readonly decision: 'accept' | 'take_back';
  readonly files: 'all' | readonly { readonly path: string; readonly hunks?: readonly string[] | undefined }[];
}

const CHANGED_SINCE = 'this has changed since it was shown; look at it again';

/** Returns what happened since a checkpoint, by default the last one. Raises `Refusal`. */
export async function showReview(served: ServedHistory, since: string | undefined): Promise<ShownReview> {
  const review = reviewSince(served, since);
  const { checkpoint, time, units } = review;
  const entries = units.flatMap((unit) => [unit, ...unit.below.map((entry) => ({ ...entry, partOf: unit.diff.path }))]);
  const shown = await fileDiffs(served.root, entries);
  return {
    since: checkpoint === undefined ? null : { name: checkpoint.name, time: checkpoint.time },
    id: `${time}.${since ?? ''}`,
    ...shown,
  };
}

/** Carries out a decision, and returns the id of the change if it made one. Raises `Refusal`. */
export async function decide(served: ServedHistory, decision: Decision): Promise<{ readonly change: string | null }> {
  const review = shownReview(served, decision.id);
  if (decision.decision === 'accept') {
    await accept(review, decision.files);
    return { change: null };
  }
  return { change: (await orRefuse(() => takeBack(served, review, decision.files))) ?? null };
}

function reviewSince({ root, history }: ServedHistory, since: string | undefined): Review {
  const checkpoint = since === undefined ? undefined : checkpoints(history).find(({ name }) => name === since);
  if (since !== undefined && checkpoint === undefined) throw new Refusal(404, 'there is no such checkpoint any more');
  return makeReview(history, { root, checkpoint });
}

/** Returns a review as it was when it was shown: without the changes that were made since. */
function shownReview(served: ServedHistory, id: string): Review {
  const [, written = '', since = ''] = /^(\d{1,15})\.(.*)$/s.exec(id) ?? [];
  const review = reviewSince(served, since === '' ? undefined : since);
  const time = Number(written);
  if (written === '' || time > review.time || time < (review.checkpoint?.time ?? 0)) {
    throw new Refusal(409, CHANGED_SINCE);
  }
  const shown = (changes: readonly PastChange[]) => changes.filter((change) => change.time <= time);
  const units = review.units.map((unit) => ({ ...unit, changes: shown(unit.changes) }));
  return { ...review, time, changes: shown(review.changes), units };
}

async function accept(review: Review, files: Decision['files']): Promise<void> {
  if (files === 'all') {
    await acceptReview(review);
    return;
  }
  for (const { path, hunks } of files) {
    const unit = unitAt(review, path);
    if (hunks === undefined) await acceptUnits(review, [unit]);
    else await acceptHunksOf(review, unit, chosenHunks(unit, hunks));
  }
}

/** Takes files or hunks back, and returns the id of the last change that this was. */
async function takeBack(served: ServedHistory, review: Review, files: Decision['files']): Promise<string | undefined> {
  const partly = review.units.filter(({ isPartlyAccepted }) => isPartlyAccepted);
  const chosen =
    files === 'all'
      ? partly.map((unit) => ({ unit, hunks: decidableHunks(unit) }))
      : files.flatMap(({ path, hunks }) => {
          const unit = unitAt(review, path);
          if (hunks !== undefined) return [{ unit, hunks: chosenHunks(unit, hunks) }];
          return unit.isPartlyAccepted ? [{ unit, hunks: decidableHunks(unit) }] : [];
        });
  const whole = files === 'all' ? [] : files.filter(({ hunks }) => hunks === undefined);
  const plans =
    files === 'all'
      ? planTakeBack(review, false)
      : whole.flatMap(({ path }) => planTakeBackOf(review, unitAt(review, path), false));
  let made = await applyAll(served, plans);
  for (const { unit, hunks } of chosen) made = (await takeBackOf(served, unit, hunks)) ?? made;
  return made;
}

/** Carries out plans, after it is known that nothing is in the way of any. */
async function applyAll({ caller, durable }: ServedHistory, plans: readonly UndoPlan[]): Promise<string | undefined> {
  const conflicts = plans.flatMap((plan) => plan.conflicts);
  if (conflicts.length > 0) throw conflictRefusal(conflicts);
  let made: string | undefined;
  for (const plan of plans) made = (await applyUndo(plan, { caller, durable })).change ?? made;
  return made;
}

/** Takes hunks of a file back, and returns the id of the change that this is. Raises `Refusal`. */
async function takeBackOf(
  { root, caller, durable }: ServedHistory,
  { diff, content }: ReviewUnit,
  hunks: ReturnType<typeof decidableHunks>,
): Promise<string | undefined> {
  const shown = content();
  if (shown.shown !== 'hunks' || hunks.length === 0) return undefined;
  const taken = await takeBackHunks(root, { path: diff.path, texts: shown.texts, hunks }, { caller, durable });
  if (taken.done) return changeIn(root, caller)?.id;
  const reason =
    'conflicts' in taken
      ? `was changed since, at line ${taken.conflicts.join(', ')}`
      : taken.why === 'gone'
        ? 'is no longer there'
        : 'keeps being changed';
  throw new Refusal(409, 'newer work is in the way', { conflicts: [{ path: diff.path, reason }] });
}

function unitAt({ units }: Review, path: string): ReviewUnit {
  const unit = units.find(({ diff }) => diff.path === path);
  if (unit === undefined) throw new Refusal(409, CHANGED_SINCE);
  return unit;
}

function chosenHunks(unit: ReviewUnit, ids: readonly string[]): ReturnType<typeof decidableHunks> {
  const hunks = decidableHunks(unit).filter((hunk) => ids.includes(hunkHash(hunk)));
  if (hunks.length < ids.length) throw new Refusal(409, CHANGED_SINCE);
  return hunks;
}
