export { openLog } from './audit/log.ts';
export { type Config, ConfigError, configFromDirs, loadConfig, type RootConfig } from './config/index.ts';
export { type ErrorCode, type ErrorDetails, isCode, RingfenceError } from './errors.ts';
export { type CallerPath, chooseBackend, parseCallerPath, Root } from './fence/index.ts';
export { type HttpOptions, type HttpServing, type Mount, startHttp } from './server/http.ts';
export { openService, type Service, type ServiceParts } from './server/service.ts';
export { type StdioServing, startStdio } from './server/stdio.ts';
export type { Dialect } from './tools/dialect.ts';
export { defineTool, type Tool } from './tools/tool.ts';
