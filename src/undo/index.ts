export { type AppliedUndo, type ApplyOptions, applyUndo } from './apply-undo.ts';
export { isUndoError, UndoError, type UndoErrorCode, type UndoErrorDetails } from './errors.ts';
export {
  type ChangeFilter,
  type HappenedStep,
  isAtOrBelow,
  type PastChange,
  pastChanges,
  selectChanges,
} from './past-change.ts';
export { diffOfChanges, type PathDiff, textDiff } from './past-diff.ts';
export { type PastEntry, PastTree } from './past-tree.ts';
export {
  type Conflict,
  type ConflictReason,
  planUndo,
  type UndoAction,
  type UndoEffect,
  type UndoOptions,
  type UndoPlan,
} from './plan-undo.ts';
export { type RestoreOptions, restoreEntry } from './restore-entry.ts';
export { settle } from './settle.ts';
