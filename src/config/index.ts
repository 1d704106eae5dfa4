export type { AuthConfig } from './auth-config.ts';
export { builtDescription as builtIntroduction } from './built-description.ts';
export { type ClassicFlags, classicConfig } from './classic-config.ts';
export type {
  AgentConfig,
  Config,
  DialectConfig,
  ProjectConfig,
  RootConfig,
} from './config.ts';
export { ConfigError } from './config-error.ts';
export { configFromDirs } from './config-from-dirs.ts';
export { fenceFromEnvironment } from './environment.ts';
export { type GuideFlags, guideConfig } from './guide-config.ts';
export { loadConfig } from './load-config.ts';
export { memoryConfig } from './memory-config.ts';
export { packageVersion } from './version.ts';
