import type { Root } from '../fence/index.ts';
import {
  type Acceptance,
  acceptances,
  addAcceptances,
  addCheckpoint,
  type Checkpoint,
  type History,
  isAtOrBelow,
  newestCheckpoint,
} from '../history/index.ts';
import { type PastChange, type PathDiff, planUndo, selectChanges, type UndoPlan } from '../undo/index.ts';
import { type ContentDiff, contentDiff, differences, sortForReview } from './file-diff.ts';
import { acceptHunks, type Hunk, hunkHash, hunksOf } from './hunks.ts';
import { netChanges } from './net-changes.ts';
import { changesSince } from './past-moment.ts';

/** What happened to one entry, as far as nobody has accepted it. */
export interface ReviewEntry {
  readonly diff: PathDiff;
  /** The changes that may have touched it, newest first. */
  readonly changes: readonly PastChange[];
  /** Its content, without hunks that were accepted. */
  readonly content: () => ContentDiff;
  /** Whether some of its hunks were accepted, so that taking it back is taking back the others. */
  readonly isPartlyAccepted: boolean;
}

/** An entry, and what was removed or added with it if it is a folder. It is accepted or taken back as one. */
export interface ReviewUnit extends ReviewEntry {
  readonly below: readonly ReviewEntry[];
}

/**
 * Everything that happened in a root since its last checkpoint, or since its history begins, and that nobody has accepted
 * since.
 */
export interface Review {
  readonly history: History;
  /** The root in which things are taken back, with its rules or without. */
  readonly root: Root;
  /** Only what is at this path or below it; undefined for the whole root. */
  readonly path: string | undefined;
  /** When it was made. What happened later is for the next review. */
  readonly time: number;
  readonly checkpoint: Checkpoint | undefined;
  /** All changes since the checkpoint, newest first. */
  readonly changes: readonly PastChange[];
  /** Whether some of it was accepted already, and is left out. */
  readonly isPartlyAccepted: boolean;
  /** Deletions first. */
  readonly units: readonly ReviewUnit[];
}

/** What a review is about. */
export interface ReviewOptions {
  /** Only what is at this path or below it; by default the whole root. */
  readonly path?: string | undefined;
  /** By default the last one. */
  readonly checkpoint?: Checkpoint | undefined;
  /** The root in which things are taken back; by default the one without rules. */
  readonly root?: Root | undefined;
}

/** Compares a root with how it was at a checkpoint. */
export function makeReview(history: History, options: ReviewOptions = {}): Review {
  const { path, checkpoint = newestCheckpoint(history), root = history.root } = options;
  const time = Date.now();
  const after = checkpoint?.time ?? Number.NEGATIVE_INFINITY;
  const accepted = acceptances(history).filter((each) => each.time > after);
  const files = new Map(accepted.filter(({ hunk }) => hunk === undefined).map((each) => [each.path, each]));
  const changes = changesSince(history, after + 1, { path });
  const since = (moment: number, below: string | undefined): ReviewEntry[] => {
    const made = changesSince(history, moment + 1, { path: below });
    return differences(history, made, below).map((diff) => entryOf(diff, made, hunksFor(accepted, diff.path, moment)));
  };
  const covers = (above: Acceptance, { diff }: ReviewEntry): boolean => isAtOrBelow(diff.path, above.path);
  const entries = since(after, path).filter((entry) => ![...files.values()].some((each) => covers(each, entry)));
  for (const each of files.values()) {
    if (path !== undefined && !isAtOrBelow(each.path, path) && !isAtOrBelow(path, each.path)) continue;
    const later = [...files.values()].filter((other) => other !== each && isAtOrBelow(other.path, each.path));
    const limit = path !== undefined && isAtOrBelow(path, each.path) ? path : each.path;
    entries.push(...since(each.time, limit).filter((entry) => !later.some((other) => covers(other, entry))));
  }
  const units = unitsOf(entries.filter(hasMore));
  return { history, root, path, time, checkpoint, changes, isPartlyAccepted: accepted.length > 0, units };
}

/** Reports whether something is left of an entry when its accepted hunks are not shown. */
function hasMore({ diff: { before, after }, isPartlyAccepted, content }: ReviewEntry): boolean {
  return !isPartlyAccepted || before?.mode !== after?.mode || content().shown !== 'nothing';
}

/** Returns all entries of a review, deletions first. */
export function entriesOf({ units }: Pick<Review, 'units'>): ReviewEntry[] {
  return units.flatMap((unit) => [unit, ...unit.below]);
}

/** Returns the hunks of a file that can be decided on alone: none of one that was removed or added as a whole. */
export function decidableHunks({ diff, content }: ReviewEntry): readonly Hunk[] {
  const isFile = diff.before?.type === 'file' && diff.after?.type === 'file';
  const shown = content();
  return isFile && shown.shown === 'hunks' ? shown.hunks : [];
}

/** Plans to take back all that a review shows, except for files of which hunks were accepted. Nothing is done yet. */
export function planTakeBack(review: Review, force: boolean): UndoPlan[] {
  const { history, root, path, changes, isPartlyAccepted, units } = review;
  if (isPartlyAccepted) return units.flatMap((unit) => planTakeBackOf(review, unit, force));
  return [planUndo(history, root, netChanges(changes), { path, force })];
}

/** Plans to take back one unit of a review; no plan for a file of which hunks were accepted. */
export function planTakeBackOf({ history, root }: Review, unit: ReviewUnit, force: boolean): UndoPlan[] {
  if (unit.isPartlyAccepted) return [];
  return [planUndo(history, root, netChanges(unit.changes), { path: unit.diff.path, force })];
}

/** Accepts everything that a review shows: a new checkpoint, or if it is limited to a path, a note about that. */
export async function acceptReview({ history, path, time }: Review): Promise<Checkpoint | undefined> {
  if (path === undefined) return addCheckpoint(history, undefined, time);
  await addAcceptances(history, [{ path, time }]);
  return undefined;
}

/** Accepts some units of a review. */
export async function acceptUnits({ history, time }: Review, units: readonly ReviewUnit[]): Promise<void> {
  const paths = units.flatMap(({ diff }) => (diff.movedFrom === undefined ? [diff.path] : [diff.path, diff.movedFrom]));
  await addAcceptances(
    history,
    paths.map((path) => ({ path, time })),
  );
}

/** Accepts hunks of a file. */
export async function acceptHunksOf(
  { history, time }: Review,
  { diff }: ReviewEntry,
  hunks: readonly Hunk[],
): Promise<void> {
  await addAcceptances(
    history,
    hunks.map((hunk) => ({ path: diff.path, time, hunk: hunkHash(hunk) })),
  );
}

/** What a reviewer has decided. */
export interface Decisions {
  readonly accepted: readonly ReviewUnit[];
  /** The ids of the changes that taking things back was. */
  readonly made: readonly string[];
}

/**
 * Ends a review of which everything is decided, with a new checkpoint. If others have changed something meanwhile, or it
 * was not about the whole root, it only notes what is accepted, and returns undefined.
 */
export async function completeReview(review: Review, { accepted, made }: Decisions): Promise<Checkpoint | undefined> {
  const { history, path, time } = review;
  const later = selectChanges(history, { since: time + 1 });
  const newest = Math.max(time, ...later.flatMap(({ steps }) => steps.map(({ step }) => step.time)));
  if (path === undefined && later.every(({ id }) => made.includes(id)))
    return addCheckpoint(history, undefined, newest);
  await acceptUnits(review, accepted);
  return undefined;
}

function hunksFor(accepted: readonly Acceptance[], path: string, since: number): string[] {
  return accepted.flatMap((each) => (each.path === path && each.time > since && each.hunk ? [each.hunk] : []));
}

function entryOf(diff: PathDiff, changes: readonly PastChange[], hashes: readonly string[]): ReviewEntry {
  let known: ContentDiff | undefined;
  const content = (): ContentDiff => {
    known ??= without(contentDiff(diff), hashes);
    return known;
  };
  return { diff, changes, content, isPartlyAccepted: hashes.length > 0 };
}

function without(content: ContentDiff, hashes: readonly string[]): ContentDiff {
  if (content.shown !== 'hunks' || hashes.length === 0) return content;
  const texts = acceptHunks(content.texts, hashes);
  const hunks = hunksOf(texts);
  return hunks.length === 0 ? { shown: 'nothing' } : { shown: 'hunks', texts, hunks };
}

/** Puts entries below the folder that they were removed or added with. */
function unitsOf(entries: readonly ReviewEntry[]): ReviewUnit[] {
  const folders = new Set(entries.filter(isWholeFolder).map(({ diff }) => diff.path));
  const below = new Map<string, ReviewEntry[]>();
  const units: ReviewEntry[] = [];
  for (const entry of sortForReview(entries)) {
    const folder = parentsOf(entry.diff.path).find((path) => folders.has(path));
    if (folder === undefined) units.push(entry);
    else below.get(folder)?.push(entry) ?? below.set(folder, [entry]);
  }
  return units.map((unit) => ({ ...unit, below: (isWholeFolder(unit) && below.get(unit.diff.path)) || [] }));
}

/** Reports whether a folder was removed or added, with all that is in it. */
function isWholeFolder({ diff: { before, after } }: ReviewEntry): boolean {
  return (before ?? after)?.type === 'directory' && (before === undefined || after === undefined);
}

function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}
