export { AgentPartitions, type AgentPartitionsOptions, type PartitionStats } from './agent-partitions.ts';
export type { BridgeAudit, BridgeEvent, BridgeOperation } from './audit.ts';
export { BridgeError, SecurityError } from './bridge-error.ts';
export type { Evicted } from './byte-lru.ts';
export type { Chunk } from './chunk-sets.ts';
export {
  type CachedFile,
  type CachedListing,
  type CacheStats,
  FileCache,
  type FileCacheOptions,
  type FileContent,
  type Stored,
} from './file-cache.ts';
export {
  type BridgeStats,
  type FileRead,
  FilesystemBridge,
  type FilesystemBridgeOptions,
  type ListOptions,
  type ReadOptions,
} from './filesystem-bridge.ts';
export type { HandedFile } from './handed-file.ts';
export type { FileMetadata, ReceivedFile, TakenChunk, TakenFile, TakenListing } from './handover.ts';
export type { ListingEntry, PathInfo } from './listing.ts';
export type { Mtime } from './mtime.ts';
export { PathValidator } from './path-validator.ts';
export { pathProblem } from './project-path.ts';
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
export { DEFAULT_ALLOWED_PATHS, SecurityPolicy, type SecurityPolicyOptions } from './security-policy.ts';
export type { ErrorType } from './wording.ts';
