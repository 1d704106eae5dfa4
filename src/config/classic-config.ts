import path from 'node:path';
import { LOG_LEVELS } from '../audit/log.ts';
import { CAPABILITIES } from '../tools/capabilities.ts';
import { checkFolder } from './check-folder.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { defaultConfig } from './default-config.ts';
import { configSchema } from './schema.ts';

/** The flags of the command, as written. */
export interface ClassicFlags {
  readonly rootDir?: string;
  readonly maxFileSize?: string;
  readonly requestTimeout?: string;
  readonly logLevel?: string;
}

/** The name by which the one folder appears in the log. */
const ROOT = 'root';
const DEFAULT_MAX_FILE_SIZE = 10 * 1024 * 1024;

const { shape } = configSchema;

/** The config of a server on one folder. A flag wins over its variable, that over the default. Raises `ConfigError`. */
export function classicConfig(flags: ClassicFlags, env: NodeJS.ProcessEnv = process.env): Config {
  const root = pick(flags.rootDir, '--root-dir', env, 'FS_SERVER_ROOT');
  const maxFileSize = pick(flags.maxFileSize, '--max-file-size', env, 'FS_MAX_FILE_SIZE');
  const timeout = pick(flags.requestTimeout, '--request-timeout', env, 'FS_REQUEST_TIMEOUT');
  const level = pick(flags.logLevel, '--log-level', env, 'FS_LOG_LEVEL');
  const folder = path.resolve(root.value ?? '.');
  const trouble = checkFolder(folder);
  if (trouble !== undefined) throw new ConfigError(`${root.from}: ${trouble}`);
  return {
    ...defaultConfig(),
    maxFullReadSize: number(maxFileSize, shape.max_full_read_size, DEFAULT_MAX_FILE_SIZE, 'a number of bytes'),
    requestTimeout: number(timeout, shape.request_timeout, 30, 'a number of seconds above 0'),
    logLevel: levelOf(level),
    roots: [{ name: ROOT, path: folder, allowed: CAPABILITIES, origin: root.from }],
    dialects: [{ name: 'classic', root: ROOT }],
  };
}

interface Setting {
  readonly value: string | undefined;
  /** The flag or variable it came by, for messages. */
  readonly from: string;
}

function pick(flag: string | undefined, flagName: string, env: NodeJS.ProcessEnv, variable: string): Setting {
  if (flag !== undefined) return { value: flag, from: flagName };
  return { value: env[variable] || undefined, from: variable };
}

function number(
  { value, from }: Setting,
  schema: { safeParse(value: unknown): { success: boolean } },
  fallback: number,
  what: string,
): number {
  if (value === undefined) return fallback;
  const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!schema.safeParse(parsed).success) throw new ConfigError(`${from}: must be ${what}, got "${value}"`);
  return parsed;
}

function levelOf({ value = 'info', from }: Setting): Config['logLevel'] {
  const level = LOG_LEVELS.find((name) => name === value.toLowerCase());
  if (level === undefined) throw new ConfigError(`${from}: must be one of ${LOG_LEVELS.join(', ')}, got "${value}"`);
  return level;
}
