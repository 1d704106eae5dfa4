import * as z from 'zod';
import { LOG_LEVELS } from '../audit/log-level.ts';
import {
  DEFAULT_ASK_SECONDS,
  DEFAULT_CACHE_BYTES,
  DEFAULTS,
  MAX_FULL_READ_SIZE,
  MAX_TIMEOUT_SECONDS,
} from './defaults.ts';

/** How files of the client's side are asked for and kept. */
const agent = {
  allowed_paths: z.array(z.string().min(1)).min(1).optional(),
  cache_bytes: z.int().min(1).default(DEFAULT_CACHE_BYTES),
  timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULT_ASK_SECONDS),
};

/** A root is a folder, or files of the client's side. That it is exactly one of the two is checked where it is read. */
const root = z.strictObject({
  name: z.string().min(1).max(64),
  path: z.string().min(1).optional(),
  agent: z.strictObject(agent).optional(),
  allowed_tools: z.array(z.string()),
});

/** A token is written as the variable that holds it, or as its hash. Which of the two is checked where the variables are read. */
const token = z.strictObject({
  name: z.string().min(1).max(64),
  token_env: z.string().min(1).optional(),
  sha256: z.string().optional(),
  roots: z.array(z.string().min(1)).min(1),
});

const bound = z.strictObject({ root: z.string().min(1) });

/** The dialects that can be served, each with what it has to be told. */
const dialects = z.strictObject({
  workspace: z.strictObject({}).nullable().optional(),
  memory: bound.optional(),
  classic: bound.optional(),
  guide: z.strictObject({ project: z.string().min(1), ...agent }).optional(),
});

export type DialectName = keyof z.output<typeof dialects>;

/** The config file as an operator writes it. */
export const configSchema = z.strictObject({
  host: z.string().min(1).default('0.0.0.0'),
  port: z.int().min(0).max(65535).default(DEFAULTS.port),
  max_full_read_size: z.int().min(1).max(MAX_FULL_READ_SIZE).default(DEFAULTS.maxFullReadSize),
  request_timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULTS.requestTimeout),
  log_level: z.enum(LOG_LEVELS).default(DEFAULTS.logLevel),
  durable_writes: z.boolean().default(DEFAULTS.durableWrites),
  roots: z.array(root).min(1),
  dialects: dialects.default({ workspace: {} }),
  // An empty list would be a door that only looks locked.
  auth: z.strictObject({ tokens: z.array(token).min(1) }).optional(),
});

export type ConfigFile = z.output<typeof configSchema>;
