export { AgentPartitions, type AgentPartitionsOptions, type PartitionStats } from './bridge/agent-partitions.ts';
export type { BridgeAudit, BridgeEvent, BridgeOperation } from './bridge/bridge-event.ts';
export {
  type BridgeStats,
  type FileRead,
  FilesystemBridge,
  type FilesystemBridgeOptions,
  type ListOptions,
  type ReadOptions,
} from './bridge/filesystem-bridge.ts';
export { BridgeError, SecurityError } from './bridge-error.ts';
export type { Evicted } from './cache/byte-lru.ts';
export {
  type CachedFile,
  type CachedListing,
  type CacheStats,
  FileCache,
  type FileCacheOptions,
  type FileContent,
  type Stored,
} from './cache/file-cache.ts';
export type { ErrorType } from './error-wording.ts';
export type { Chunk } from './handover/chunk-sets.ts';
export type { HandedFile } from './handover/handed-file.ts';
export type { FileMetadata, ReceivedFile, TakenChunk, TakenFile, TakenListing } from './handover/handover.ts';
export type { ListingEntry, PathInfo } from './listing.ts';
export type { Mtime } from './mtime.ts';
export { PathValidator } from './policy/path-validator.ts';
export { pathProblem } from './policy/project-path.ts';
export { DEFAULT_ALLOWED_PATHS, SecurityPolicy, type SecurityPolicyOptions } from './policy/security-policy.ts';
export type {
  FileQuestion,
  ListingQuestion,
  Sample,
  SampleAnswer,
  SampleBlock,
  SampleOptions,
  SampleParams,
  SampleQuestion,
  SampleTool,
} from './sample.ts';
