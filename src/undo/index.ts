export { type AppliedUndo, applyUndo } from './apply-undo.ts';
export { isUndoError, UndoError, type UndoErrorDetails } from './errors.ts';
export type { PastEntry } from './past/past-node.ts';
export {
  type ChangeFilter,
  type HappenedStep,
  type PastChange,
  pastChanges,
  selectChanges,
} from './past-change.ts';
export { diffOfChanges, type PathDiff } from './past-diff.ts';
export type { Conflict, ConflictReason } from './plan/conflict.ts';
export type { UndoAction, UndoEffect, UndoPlan } from './plan/undo-plan.ts';
export { planUndo } from './plan-undo.ts';
export { type PastMoment, restoreEntry, treeAt } from './restore-entry.ts';
export { settle } from './settle.ts';
