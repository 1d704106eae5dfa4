export { type Acceptance, acceptances, addAcceptances } from './acceptances.ts';
export { Change, OWN_PLACE, type PendingStep, type RootEntry } from './change.ts';
export { addCheckpoint, type Checkpoint, checkpoints, newestCheckpoint } from './checkpoints.ts';
export { copyToKeep } from './copy-to-keep.ts';
export type { HistoryErrorDetails } from './errors.ts';
export { changeIn, History, historyOf, type RecordedChange, recordedBy, timeOfChange } from './history.ts';
export { type DirEntry, hasOwnPlace } from './kept-entries.ts';
export { type PastStep, pastSteps, type StepFilter } from './log/past-steps.ts';
export {
  type CancelMark,
  type EntryState,
  HISTORY_FOLDER,
  isAbout,
  isAtOrBelow,
  isSameEntry,
  type Step,
  stepKey,
  type TimeChange,
} from './log/step.ts';
export { moveEntry } from './move-entry.ts';
export { nameToText, pathInside, textToName } from './path-text.ts';
export { DEFAULT_HISTORY, type HistoryNotice, type HistoryOptions } from './store.ts';
