export { BACKEND_NAMES, type Backend, type BackendName, chooseBackend } from './backend.ts';
export { type CallerPath, type HostPath, parseCallerPath } from './caller-path.ts';
export { Dir, type Entry, type EntryType, type Name, typeOf } from './dir.ts';
export { fromSystem } from './errno.ts';
export type { OpenFile } from './open-file.ts';
export { OwnerNames } from './owner-names.ts';
export type { Location } from './resolve.ts';
export { Root, type SharedRoot } from './root.ts';
export { isLeftover, temporaryName } from './temp-names.ts';
