export { BACKEND_NAMES, type Backend, type BackendName, chooseBackend } from './backend.ts';
export { type CallerPath, type HostPath, parseCallerPath, ROOT_PATH, toForwardSlashes } from './caller-path.ts';
export { checkTree } from './check-tree.ts';
export { type CheckedTree, Dir, type HeldEntry, type SharedDir } from './dir.ts';
export { type Entry, type EntryType, entryTypeOf, type Name } from './entry.ts';
export { fromSystem, isTransient, withLocation, withLocationSync } from './errno.ts';
export { FenceError, type FenceErrorCode, type FenceErrorDetails, isFenceError } from './errors.ts';
export { type FileSystemFeatures, probeFeatures } from './features.ts';
export { lockFolder, lockFolders, removeStaleLock } from './folder-lock.ts';
export { DEFAULT_PROTECT, DEFAULT_RULES, type GuardRules, type Refusal } from './guard/guard.ts';
export { patternOf, patternsProblem } from './guard/path-rules.ts';
export { ensureHostFolder } from './host/host-folder.ts';
export { OwnerNames } from './host/owner-names.ts';
export type { OpenFile, ReadableFile } from './open-file.ts';
export type { Location, MadeFolder, ResolveOptions } from './resolver.ts';
export { Root, type RootPath, type SharedRoot } from './root.ts';
export type { StatLite } from './syscalls.ts';
export {
  appendJournalName,
  heldName,
  isAppendJournalName,
  isLeftover,
  isOfOtherLease,
  isTemporaryName,
  leasedName,
  nameOfHeld,
  ownerState,
  temporaryName,
} from './temp-name.ts';
