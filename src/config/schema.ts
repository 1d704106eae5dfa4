import * as z from 'zod';
import { LOG_LEVELS } from '../audit/log-level.ts';
import { UNDO_SCOPES } from '../tools/client.ts';
import { RESULT_MODES } from '../tools/result-form.ts';
import { ANNOTATIONS, type DialectName, LANDLOCK_MODES } from './config.ts';
import {
  DEFAULT_ASK_SECONDS,
  DEFAULT_CACHE_BYTES,
  DEFAULTS,
  MAX_CALLS,
  MAX_FULL_READ_SIZE,
  MAX_PATTERNS,
  MAX_TIMEOUT_SECONDS,
  MIN_MEMORY,
  MIN_RESULT_CHARS,
} from './defaults.ts';

/** The keys for client-side files. */
const agent = {
  allowed_paths: z.array(z.string().min(1)).min(1).optional(),
  cache_bytes: z.int().min(1).default(DEFAULT_CACHE_BYTES),
  timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULT_ASK_SECONDS),
};

/** Patterns in the syntax of gitignore. `readConfigFile` checks that each has an effect. */
const patterns = z.array(z.string()).max(MAX_PATTERNS);

/** A root has either `path` or `agent`. `readConfigFile` checks that it has exactly one of them. */
const root = z.strictObject({
  name: z.string().min(1).max(64),
  path: z.string().min(1).optional(),
  agent: z.strictObject(agent).optional(),
  allowed_tools: z.array(z.string()),
  read_only: z.boolean().optional(),
  deny: patterns.optional(),
  protect: patterns.optional(),
  confirm: z.array(z.string()).optional(),
  // `checkHistory` checks its keys.
  history: z.union([z.boolean(), z.looseObject({})]).optional(),
});

/**
 * A token is given by the environment variable that holds it or by its hash. `checkAuth` checks that it is exactly one
 * of them.
 */
const token = z.strictObject({
  name: z.string().min(1).max(64),
  token_env: z.string().min(1).optional(),
  sha256: z.string().optional(),
  roots: z.array(z.string().min(1)).min(1),
  tools: z.array(z.string()).optional(),
  undo: z.enum(UNDO_SCOPES).optional(),
});

const bound = z.strictObject({ root: z.string().min(1) });

/** The dialects that can be served, with their options. */
const dialects = z.strictObject({
  workspace: z.strictObject({}).nullable().optional(),
  memory: bound.optional(),
  classic: bound.optional(),
  guide: z.strictObject({ project: z.string().min(1), ...agent }).optional(),
} satisfies Record<DialectName, z.ZodType>);

/** How often one client may call. */
const rateLimit = z.strictObject({
  calls_per_second: z.number().positive().max(MAX_CALLS),
  burst: z.int().min(1).max(MAX_CALLS).optional(),
});

/** The schema of the config file. */
export const configSchema = z.strictObject({
  host: z.string().min(1).default('0.0.0.0'),
  port: z.int().min(0).max(65535).default(DEFAULTS.port),
  max_full_read_size: z.int().min(1).max(MAX_FULL_READ_SIZE).default(DEFAULTS.maxFullReadSize),
  request_timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULTS.requestTimeout),
  confirm_timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULTS.confirmTimeout),
  results: z.enum(['auto', ...RESULT_MODES]).default(DEFAULTS.results),
  max_result_chars: z.int().min(MIN_RESULT_CHARS).optional(),
  annotations: z.enum(ANNOTATIONS).default(DEFAULTS.annotations),
  log_level: z.enum(LOG_LEVELS).default(DEFAULTS.logLevel),
  durable_writes: z.boolean().default(DEFAULTS.durableWrites),
  roots: z.array(root).min(1),
  dialects: dialects.default({ workspace: {} }),
  // With an empty list every request would be refused, which cannot be intended.
  auth: z.strictObject({ tokens: z.array(token).min(1) }).optional(),
  hardening: z.strictObject({ landlock: z.enum(LANDLOCK_MODES).optional() }).optional(),
  rate_limit: rateLimit.optional(),
  limits: z.strictObject({ memory: z.int().min(MIN_MEMORY).default(DEFAULTS.memory) }).prefault({}),
});

/** A config file with its defaults filled in. */
export type ConfigFile = z.output<typeof configSchema>;
