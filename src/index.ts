export * from './agent/index.ts';
export type { Activity, ClientFigures } from './audit/activity.ts';
export { openLog } from './audit/log.ts';
export {
  type AgentConfig,
  type AuthConfig,
  type Config,
  ConfigError,
  configFromDirs,
  type DialectConfig,
  loadConfig,
  type ProjectConfig,
  type RootConfig,
} from './config/index.ts';
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
export { type ErrorCode, type ErrorDetails, isCode, RingfenceError, type Violation } from './errors.ts';
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
export { schemaMarkdown } from './tools/schema-markdown.ts';
export { defineTool, type Tool } from './tools/tool.ts';
