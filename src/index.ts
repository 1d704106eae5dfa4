export type { Violation } from './agent/agent-error.ts';
export { AgentPartitions, type AgentPartitionsOptions, type PartitionStats } from './agent/bridge/agent-partitions.ts';
export type { BridgeAudit, BridgeEvent, BridgeOperation } from './agent/bridge/bridge-event.ts';
export {
  type BridgeStats,
  type FileRead,
  FilesystemBridge,
  type FilesystemBridgeOptions,
  type ListOptions,
  type ReadOptions,
} from './agent/bridge/filesystem-bridge.ts';
export { BridgeError, SecurityError } from './agent/bridge-error.ts';
export type { Evicted } from './agent/cache/byte-lru.ts';
export {
  type CachedFile,
  type CachedListing,
  type CacheStats,
  FileCache,
  type FileCacheOptions,
  type Stored,
} from './agent/cache/file-cache.ts';
export type { ErrorType } from './agent/error-wording.ts';
export type { Chunk } from './agent/handover/chunk-sets.ts';
export type { HandedFile } from './agent/handover/handed-file.ts';
export type { FileMetadata, ReceivedFile, TakenChunk, TakenFile, TakenListing } from './agent/handover/handover.ts';
export type { ListingEntry, PathInfo } from './agent/listing.ts';
export type { Mtime } from './agent/mtime.ts';
export { PathValidator } from './agent/policy/path-validator.ts';
export { pathProblem } from './agent/policy/project-path.ts';
export { DEFAULT_ALLOWED_PATHS, SecurityPolicy, type SecurityPolicyOptions } from './agent/policy/security-policy.ts';
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
} from './agent/sample.ts';
export type { Activity, ClientFigures } from './audit/activity.ts';
export { openLog } from './audit/log.ts';
export type { AuthConfig } from './config/auth-config.ts';
export type { AgentConfig, Config, DialectConfig, ProjectConfig, RootConfig } from './config/config.ts';
export { ConfigError } from './config/config-error.ts';
export { configFromDirs } from './config/config-from-dirs.ts';
export { loadConfig } from './config/load-config.ts';
export { classic } from './dialects/classic/index.ts';
export { guide } from './dialects/guide/index.ts';
export { FileStorage } from './dialects/memory/file-storage.ts';
export { memory } from './dialects/memory/index.ts';
export { StorageError, type StorageErrorCode } from './dialects/memory/storage-error.ts';
export type { FileContent } from './dialects/memory/view.ts';
export {
  createMemoryTool,
  type MemoryTool,
  type MemoryToolOptions,
} from './dialects/memory-tool/create-memory-tool.ts';
export { workspace } from './dialects/workspace/index.ts';
export { RingfenceError } from './errors.ts';
export { type CallerPath, chooseBackend, parseCallerPath, Root } from './fence/index.ts';
export {
  forDialect as speaking,
  openService,
  type Service,
  type ServiceOptions as ServiceParts,
} from './server/call/service.ts';
export { type HttpOptions, type HttpServing, type Mount, startHttp } from './server/http/http-server.ts';
export { type StdioServing, startStdio } from './server/stdio/stdio-server.ts';
export type { Dialect } from './tools/dialect.ts';
export { type ErrorCode, type ErrorDetails, isCode } from './tools/errors.ts';
export { schemaMarkdown } from './tools/schema-markdown.ts';
export { defineTool, type Tool } from './tools/tool.ts';
