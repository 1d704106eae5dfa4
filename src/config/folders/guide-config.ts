import path from 'node:path';
import { LOG_LEVELS } from '../../audit/log-level.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { DEFAULT_ASK_SECONDS, DEFAULT_CACHE_BYTES, defaultConfig } from '../defaults.ts';
import { folderProblem } from '../folder-problem.ts';

/** The flags of `ringfence guide`, unparsed. */
export interface GuideFlags {
  readonly project?: string;
  readonly allow?: readonly string[];
  readonly logLevel?: string;
}

/** Returns the config of `ringfence guide`: no roots, only client-side files of one project. Raises `ConfigError`. */
export function guideConfig({ project = '.', allow, logLevel = 'info' }: GuideFlags): Config {
  if (project === '') throw new ConfigError('--project: must be the path of a folder, got an empty one');
  const folder = path.resolve(project);
  const trouble = folderProblem(folder);
  if (trouble !== undefined) throw new ConfigError(`--project: ${trouble}`);
  const level = LOG_LEVELS.find((name) => name === logLevel);
  if (level === undefined) {
    throw new ConfigError(`--log-level: must be one of ${LOG_LEVELS.join(', ')}, got "${logLevel}"`);
  }
  const agent = { allowedPaths: allow, cacheBytes: DEFAULT_CACHE_BYTES, timeout: DEFAULT_ASK_SECONDS };
  return {
    ...defaultConfig(),
    logLevel: level,
    roots: [],
    dialects: [{ name: 'guide', root: undefined, project: { ...agent, project: folder, origin: '--allow' } }],
  };
}
