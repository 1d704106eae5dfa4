export { CONFLICT_WORDS, isFinal } from './conflict-words.ts';
export { type ContentDiff, contentDiff, differences, kindOf, sortForReview } from './file-diff.ts';
export { type Hunk, type HunkLine, hunkHash, hunkHeader } from './hunks.ts';
export { lineText } from './lines.ts';
export { looksLikeChangeId } from './moment.ts';
export { netChanges } from './net-changes.ts';
export { changesSince, findMoment, type StartMoment } from './past-moment.ts';
export {
  acceptHunksOf,
  acceptReview,
  acceptUnits,
  completeReview,
  decidableHunks,
  entriesOf,
  makeReview,
  planTakeBack,
  planTakeBackOf,
  type Review,
  type ReviewEntry,
  type ReviewUnit,
} from './review.ts';
export { takeBackHunks } from './take-back-hunks.ts';
