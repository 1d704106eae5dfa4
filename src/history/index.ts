export { Change, OWN_PLACE, type PendingStep, type RootEntry, type StepFields } from './change.ts';
export { copyToKeep } from './copy-to-keep.ts';
export { HistoryError, type HistoryErrorCode, type HistoryErrorDetails } from './errors.ts';
export { changeIn, HISTORY_FOLDER, History, historyOf } from './history.ts';
export type { DirEntry } from './kept-entries.ts';
export { type PastStep, pastSteps } from './past-steps.ts';
export { nameToText, pathInside, textToName } from './path-text.ts';
export { type EntryState, isSameEntry, type Step, type StepKind, stateOf, stepKey } from './step.ts';
export { DEFAULT_HISTORY, type HistoryOptions } from './store.ts';
