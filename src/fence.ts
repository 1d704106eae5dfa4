/**
 * `ringfence/fence`: access to the files beneath one folder and to nothing else, and the operations that build on it.
 * Loads neither the protocol nor its schemas.
 */
export { type CodeGuard, type ErrorLocation, RingfenceError } from './errors.ts';
export {
  BACKEND_NAMES,
  type Backend,
  type BackendName,
  type CallerPath,
  type CheckedTree,
  chooseBackend,
  DEFAULT_PROTECT,
  Dir,
  type Entry,
  type EntryType,
  entryTypeOf,
  FenceError,
  type FenceErrorCode,
  type FenceErrorDetails,
  type GuardRules,
  type HeldEntry,
  type HostPath,
  isFenceError,
  type Location,
  type MadeFolder,
  type Name,
  type OpenFile,
  parseCallerPath,
  type ReadableFile,
  type Refusal,
  type ResolveOptions,
  ROOT_PATH,
  Root,
  type RootPath,
  type StatLite,
} from './fence/index.ts';
export { type CopyOptions, type CopyResult, copy } from './files/copy/copy.ts';
export { type MoveOptions, move } from './files/copy/move.ts';
export {
  type Edited,
  insertText,
  patchFile,
  replaceText,
  replaceTexts,
  type Versioned,
} from './files/edit/edit-file.ts';
export type { PatchResult } from './files/edit/patch/apply-patch.ts';
export type { ReplacementsResult, TextReplacement } from './files/edit/replacements/apply-replacements.ts';
export type { RewriteOptions } from './files/edit/rewrite-file.ts';
export type { EditPosition, Insertion, Replacement } from './files/edit/text-edits.ts';
export { FileError, type FileErrorCode, type FileErrorDetails, isFileError } from './files/errors.ts';
export { type EntryInfo, type FolderEntry, listFolder, type TargetType } from './files/list/list-folder.ts';
export { type PathStatus, statPath } from './files/list/stat-path.ts';
export type { ReadLimit } from './files/read/byte-source.ts';
export { HASH_ALGORITHMS, type HashAlgorithm, hashFile } from './files/read/hash-file.ts';
export { LineIndexCache, type LineIndexOptions } from './files/read/line-index-cache.ts';
export { type FilePart, type ReadOptions, type ReadRange, readFile } from './files/read/read-file.ts';
export {
  type RemoveEntryOptions,
  type RemoveFileOptions,
  removeEntry,
  removeFile,
} from './files/remove/remove-entry.ts';
export { type RemoveOptions, removeFolder } from './files/remove/remove-folder.ts';
export { sweepLeftovers } from './files/sweep/sweep-leftovers.ts';
export { versionOf } from './files/version.ts';
export { type MakeFolderOptions, makeFolder } from './files/write/make-folder.ts';
export { WRITE_MODES, type WriteMode, type WriteOptions, writeFile } from './files/write/write-file.ts';
export { FairScheduler } from './runtime/fair-scheduler.ts';
export { type Caller, CancelledError, type OperationContext } from './runtime/operation-context.ts';
