import path from 'node:path';
import { LOG_LEVELS } from '../../audit/log-level.ts';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { defaultConfig, MAX_FULL_READ_SIZE, MAX_TIMEOUT_SECONDS } from '../defaults.ts';
import { folderProblem } from '../folder-problem.ts';

/** The flags of `ringfence classic`, unparsed. */
export interface ClassicFlags {
  readonly rootDir?: string;
  readonly maxFileSize?: string;
  readonly requestTimeout?: string;
  readonly logLevel?: string;
}

/** The name of the one root, as it appears in the log. */
const ROOT = 'root';
const DEFAULT_MAX_FILE_SIZE = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_SECONDS = 30;

interface Unit {
  readonly name: string;
  fits(value: number): boolean;
}

/** There is no upper bound: a larger value is reduced to `MAX_FULL_READ_SIZE`. */
const BYTES: Unit = { name: 'a whole number of bytes above 0', fits: (value) => Number.isInteger(value) && value > 0 };
const SECONDS: Unit = {
  name: `a number of seconds above 0 and at most ${MAX_TIMEOUT_SECONDS}`,
  fits: (value) => value > 0 && value <= MAX_TIMEOUT_SECONDS,
};

/**
 * Returns the config of `ringfence classic`. A flag takes precedence over its environment variable. Raises
 * `ConfigError`.
 */
export function classicConfig(flags: ClassicFlags, env: NodeJS.ProcessEnv = process.env): Config {
  const root = pick(flags.rootDir, '--root-dir', env, 'FS_SERVER_ROOT');
  const maxFileSize = pick(flags.maxFileSize, '--max-file-size', env, 'FS_MAX_FILE_SIZE');
  const timeout = pick(flags.requestTimeout, '--request-timeout', env, 'FS_REQUEST_TIMEOUT');
  const level = pick(flags.logLevel, '--log-level', env, 'FS_LOG_LEVEL');
  // An unset variable in a script must not expose the current folder.
  if (root.value === '') throw new ConfigError(`${root.from}: must be the path of a folder, got an empty one`);
  const folder = path.resolve(root.value ?? '.');
  const trouble = folderProblem(folder);
  if (trouble !== undefined) throw new ConfigError(`${root.from}: ${trouble}`);
  return {
    ...defaultConfig(),
    maxFullReadSize: Math.min(number(maxFileSize, BYTES) ?? DEFAULT_MAX_FILE_SIZE, MAX_FULL_READ_SIZE),
    requestTimeout: number(timeout, SECONDS) ?? DEFAULT_TIMEOUT_SECONDS,
    logLevel: levelOf(level),
    roots: [{ name: ROOT, path: folder, allowed: CAPABILITIES, origin: root.from }],
    dialects: [{ name: 'classic', root: ROOT }],
  };
}

interface Setting {
  readonly value: string | undefined;
  /** The flag or variable that it came from, for messages. */
  readonly from: string;
}

function pick(flag: string | undefined, flagName: string, env: NodeJS.ProcessEnv, variable: string): Setting {
  if (flag !== undefined) return { value: flag, from: flagName };
  return { value: env[variable] || undefined, from: variable };
}

function number({ value, from }: Setting, unit: Unit): number | undefined {
  if (value === undefined) return undefined;
  const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!unit.fits(parsed)) throw new ConfigError(`${from}: must be ${unit.name}, got "${value}"`);
  return parsed;
}

function levelOf({ value = 'info', from }: Setting): Config['logLevel'] {
  const level = LOG_LEVELS.find((name) => name === value.toLowerCase());
  if (level === undefined) throw new ConfigError(`${from}: must be one of ${LOG_LEVELS.join(', ')}, got "${value}"`);
  return level;
}
