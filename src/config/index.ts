export type { AuthConfig, TokenConfig } from './auth-config.ts';
export { type ClassicFlags, classicConfig } from './classic-config.ts';
export type { Config, DialectConfig, RootConfig } from './config.ts';
export { ConfigError } from './config-error.ts';
export { configFromDirs } from './config-from-dirs.ts';
export { fenceFromEnvironment } from './environment.ts';
export { loadConfig } from './load-config.ts';
export { memoryConfig } from './memory-config.ts';
export { packageVersion } from './version.ts';
