export type { AgentError, AgentErrorCode, AgentErrorDetails, Violation } from './agent/agent-error.ts';
export { AgentPartitions, type AgentPartitionsOptions, type PartitionStats } from './agent/bridge/agent-partitions.ts';
export type { BridgeAudit, BridgeEvent, BridgeOperation } from './agent/bridge/bridge-event.ts';
export type { AskOptions } from './agent/bridge/filesystem-bridge.ts';
export {
  type BridgeListOptions,
  type BridgeReadOptions,
  type BridgeStats,
  type FileRead,
  FilesystemBridge,
  type FilesystemBridgeOptions,
} from './agent/bridge/filesystem-bridge.ts';
export type { BridgeErrorLocation } from './agent/bridge-error.ts';
export { BridgeError, SecurityError } from './agent/bridge-error.ts';
export type { Evicted } from './agent/cache/byte-lru.ts';
export {
  type CacheableFile,
  type CachedFile,
  type CachedListing,
  type CacheStats,
  FileCache,
  type FileCacheOptions,
  type StoreResult,
} from './agent/cache/file-cache.ts';
export type { ErrorType } from './agent/error-description.ts';
export type { Chunk } from './agent/handover/chunk-sets.ts';
export type {
  AcceptedChunk,
  AcceptedFile,
  AcceptedListing,
  FileMetadata,
  ReceivedFile,
} from './agent/handover/handover.ts';
export type { HandoverFile } from './agent/handover/handover-file.ts';
export type { ListingEntry, PathInfo } from './agent/listing-entry.ts';
export type { Mtime } from './agent/mtime.ts';
export { PathValidator } from './agent/policy/path-validator.ts';
export { pathProblem } from './agent/policy/project-path.ts';
export type { AnyPolicy, LocalPolicy, RemotePolicy } from './agent/policy/security-policy.ts';
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
export type { Activity, ActivityOptions, ClientFigures, UnusualActivity } from './audit/activity.ts';
export type { FormatLine, Log } from './audit/log.ts';
export { openLog } from './audit/log.ts';
export type { LogLevel } from './audit/log-level.ts';
export type { CallEvent, CallFailure, CallObserver, LoggedChange } from './audit/record-call.ts';
export type { TraceContext } from './audit/trace-context.ts';
export type {
  AgentConfig,
  AgentRootConfig,
  AnyRootConfig,
  AuthConfig,
  ClusterConfig,
  Config,
  DialectConfig,
  DialectName,
  LandlockMode,
  LocalRootConfig,
  ProjectConfig,
  RateLimitConfig,
  RootConfig,
  TokenConfig,
} from './config/config.ts';
export { ConfigError } from './config/config-error.ts';
export { loadConfig } from './config/file/load-config.ts';
export { configFromDirs } from './config/folders/config-from-dirs.ts';
export { classic } from './dialects/classic/index.ts';
export { guide } from './dialects/guide/index.ts';
export { FileStorage, type FileStorageOptions } from './dialects/memory/file-storage.ts';
export { memory } from './dialects/memory/index.ts';
export { StorageError, type StorageErrorCode } from './dialects/memory/storage-error.ts';
export type { FileContent } from './dialects/memory/view.ts';
export type { CommandName } from './dialects/memory-tool/commands.ts';
export {
  createMemoryTool,
  type MemoryTool,
  type MemoryToolOptions,
} from './dialects/memory-tool/create-memory-tool.ts';
export { workspace } from './dialects/workspace/index.ts';
export { workspaceWithHistory } from './dialects/workspace/with-history.ts';
export { type CodeGuard, type ErrorLocation, RingfenceError } from './errors.ts';
export {
  type Backend,
  type BackendName,
  type CallerPath,
  type CheckedTree,
  chooseBackend,
  type Dir,
  type Entry,
  type EntryType,
  type FenceErrorDetails,
  type GuardRules,
  type HeldEntry,
  type HostPath,
  type Location,
  type MadeFolder,
  type Name,
  type OpenFile,
  parseCallerPath,
  type ReadableFile,
  type Refusal,
  type ResolveOptions,
  Root,
  type RootPath,
  type StatLite,
} from './fence/index.ts';
export type { FileErrorDetails } from './files/errors.ts';
export type { LineIndexCache, LineIndexOptions } from './files/read/line-index-cache.ts';
export type { HistoryErrorDetails, HistoryOptions } from './history/index.ts';
export type { FairScheduler } from './runtime/fair-scheduler.ts';
export type { Caller, OperationContext } from './runtime/operation-context.ts';
export type { SearchErrorDetails, SearchPool } from './search/index.ts';
export type { OpenHistory } from './server/call/roots/served-roots.ts';
export {
  type DialectOptions,
  forDialect,
  openSharedService,
  type ReloadableService,
  type Service,
  type SharedService,
  type SharedServiceOptions,
} from './server/call/service.ts';
export { describeServer } from './server/description/describe-server.ts';
export type { ServerDescription } from './server/description/server-description.ts';
export { type HttpOptions, type Mount, type RunningHttpServer, startHttp } from './server/http/http-server.ts';
export type { SessionLimits } from './server/http/sessions.ts';
export { openService, type ServiceOptions } from './server/open-service.ts';
export { type RunningStdioServer, type StdioOptions, startStdio } from './server/stdio/stdio-server.ts';
export type { Capability } from './tools/capabilities.ts';
export type { Client, UndoScope } from './tools/client.ts';
export type { ArgumentProblem, Dialect, FailedCall, WarmUpCall } from './tools/dialect.ts';
export type { CallError, NotConfirmedReason, ToolErrorDetails } from './tools/errors.ts';
export { type ErrorCode, type ErrorDetails, isCode } from './tools/errors.ts';
export type { ChangeKind, IntendedChange } from './tools/intended-change.ts';
export type { ResultForm, ResultMode } from './tools/result-form.ts';
export type { NamedAgentRoot, NamedLocalRoot, NamedRoot, Roots } from './tools/roots.ts';
export { schemaMarkdown } from './tools/schema-markdown.ts';
export {
  type BoundRootContext,
  type CallContext,
  defineTool,
  type Effect,
  type Limits,
  type MediaContent,
  type RenderedResult,
  type Tool,
  type ToolDefinition,
  type ToolResult,
} from './tools/tool.ts';
export type { Conflict, ConflictReason, UndoErrorDetails } from './undo/index.ts';
export type { JsonChunks } from './wire/json-chunks.ts';
export type { JsonList } from './wire/json-list.ts';
export type { TextList } from './wire/text-list.ts';
