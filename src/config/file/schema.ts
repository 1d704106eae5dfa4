import * as z from 'zod';
import { LOG_LEVELS } from '../../audit/log-level.ts';
import { UNDO_SCOPES } from '../../tools/client.ts';
import { RESULT_MODES } from '../../tools/result-form.ts';
import { ANNOTATIONS, type DialectName, LANDLOCK_MODES } from '../config.ts';
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
} from '../defaults.ts';

/** The keys for client-side files. */
const agent = {
  allowed_paths: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('What may be asked for and handed over, relative to the project; "." is all of it.'),
  cache_bytes: z.int().min(1).default(DEFAULT_CACHE_BYTES).describe('Bytes that are kept of the files of one client.'),
  timeout: z
    .number()
    .positive()
    .max(MAX_TIMEOUT_SECONDS)
    .default(DEFAULT_ASK_SECONDS)
    .describe('Seconds that an answer of the client may take.'),
};

/** Patterns in the syntax of gitignore. `readConfigFile` checks that each has an effect. */
const patterns = z.array(z.string()).max(MAX_PATTERNS);

/** A root has either `path` or `agent`. `readConfigFile` checks that it has exactly one of them. */
const root = z.strictObject({
  name: z.string().min(1).max(64).describe('The name that clients use for this root.'),
  path: z
    .string()
    .min(1)
    .optional()
    .describe(
      `The folder on this machine; a relative path is relative to the config file, ~ is the home folder, \${NAME} an environment variable.`,
    ),
  agent: z
    .strictObject(agent)
    .optional()
    .describe("Instead of path: files on the client's side, fetched by sampling and cached."),
  allowed_tools: z.array(z.string()).describe('The tools that may be used in this root, by name; "*" stands for all.'),
  read_only: z.boolean().optional().describe('Nothing in this root can be changed, whatever allowed_tools says.'),
  deny: patterns.optional().describe('Patterns as in gitignore: what matches does not exist for any client.'),
  protect: patterns
    .optional()
    .describe(
      'Patterns as in gitignore: what matches may be read and not changed. Default: hooks and settings of git.',
    ),
  confirm: z
    .array(z.string())
    .optional()
    .describe('Tools to whose use a person has to agree first; "*" stands for all that change something.'),
  // `checkHistory` checks its keys.
  history: z
    .union([z.boolean(), z.looseObject({})])
    .optional()
    .describe(
      'Keeps what changes replace or remove: true, or an object with keep (7d), max_bytes (1GB) and over (allow or refuse).',
    ),
});

/**
 * A token is given by the environment variable that holds it or by its hash. `checkAuth` checks that it is exactly one
 * of them.
 */
const token = z.strictObject({
  name: z.string().min(1).max(64).describe('The name of the client that has this token, for the log.'),
  token_env: z.string().min(1).optional().describe('The environment variable that holds the token.'),
  sha256: z.string().optional().describe('Instead of token_env: the SHA-256 of the token, 64 hex digits.'),
  roots: z.array(z.string().min(1)).min(1).describe('The roots that this token may use. Others do not exist for it.'),
  tools: z
    .array(z.string())
    .optional()
    .describe('The tools that it may use, as far as the roots allow them. Default: all of these.'),
  undo: z.enum(UNDO_SCOPES).optional().describe('Whose changes it may list and undo. Default: own.'),
  console: z.boolean().optional().describe('Whether it may be used for the console and the metrics. Default: false.'),
});

const bound = z.strictObject({ root: z.string().min(1).describe('The root that this dialect serves.') });

/** The dialects that can be served, with their options. */
const dialects = z.strictObject({
  workspace: z.strictObject({}).nullable().optional().describe('Several roots, at /mcp.'),
  memory: bound.optional().describe('Notes of an assistant, at /mcp/memory.'),
  classic: bound.optional().describe('The tools of filesystem-server, at /mcp/classic.'),
  guide: z
    .strictObject({
      project: z.string().min(1).describe('The folder of the project, where links are looked up.'),
      ...agent,
    })
    .optional()
    .describe("Files of the client's side, at /mcp/guide."),
} satisfies Record<DialectName, z.ZodType>);

/** How often one client may call. */
const rateLimit = z.strictObject({
  calls_per_second: z
    .number()
    .positive()
    .max(MAX_CALLS)
    .describe('Calls a second that one client may make in the long run.'),
  burst: z
    .int()
    .min(1)
    .max(MAX_CALLS)
    .optional()
    .describe('Calls that it may make at once. Default: calls_per_second.'),
});

/** The schema of the config file. */
export const configSchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .default('0.0.0.0')
    .describe('The address to listen on. Set auth.tokens before other machines can reach it.'),
  port: z.int().min(0).max(65535).default(DEFAULTS.port).describe('The port to listen on; 0 takes any free one.'),
  max_full_read_size: z
    .int()
    .min(1)
    .max(MAX_FULL_READ_SIZE)
    .default(DEFAULTS.maxFullReadSize)
    .describe('Bytes: a larger file is read in parts, and a part is never larger.'),
  request_timeout: z
    .number()
    .positive()
    .max(MAX_TIMEOUT_SECONDS)
    .default(DEFAULTS.requestTimeout)
    .describe('Seconds that a call may take; grep and glob have their own timeout_seconds.'),
  confirm_timeout: z
    .number()
    .positive()
    .max(MAX_TIMEOUT_SECONDS)
    .default(DEFAULTS.confirmTimeout)
    .describe('Seconds that a person has to agree to a call.'),
  results: z
    .enum(['auto', ...RESULT_MODES])
    .default(DEFAULTS.results)
    .describe('How results of the workspace dialect are written; auto chooses by client.'),
  max_result_chars: z
    .int()
    .min(MIN_RESULT_CHARS)
    .optional()
    .describe('A longer result is cut and says how to get the rest. Default: 100000 in text mode, else none.'),
  annotations: z
    .enum(ANNOTATIONS)
    .default(DEFAULTS.annotations)
    .describe(
      'destructiveHint of tools: spec is false throughout workspace, as its contract says; honest says what they do.',
    ),
  log_level: z.enum(LOG_LEVELS).default(DEFAULTS.logLevel).describe('How much is logged.'),
  log_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The file that the log goes to, as lines of JSON, outside all roots; opened anew on SIGHUP. Default: stderr.',
    ),
  durable_writes: z
    .boolean()
    .default(DEFAULTS.durableWrites)
    .describe('A call that has succeeded survives a power cut; false does not wait for the disk.'),
  roots: z.array(root).min(1).describe('The folders that are served, and what may be done in each.'),
  dialects: dialects.default({ workspace: {} }).describe('The contracts that are served. Default: workspace alone.'),
  // With an empty list every request would be refused, which cannot be intended.
  auth: z
    .strictObject({ tokens: z.array(token).min(1).describe('The tokens, one for each client.') })
    .optional()
    .describe('Who may connect over HTTP. Default: anyone who can reach the port.'),
  hardening: z
    .strictObject({
      landlock: z
        .enum(LANDLOCK_MODES)
        .optional()
        .describe(
          'Landlock: auto enforces it where the kernel can, require refuses to start without it, off leaves it out.',
        ),
    })
    .optional()
    .describe('What the kernel enforces besides the fence.'),
  console: z
    .strictObject({
      enabled: z.boolean().describe('Whether they are served. Default: false.'),
    })
    .optional()
    .describe('What people see of the server over HTTP: the page /console, and /metrics for Prometheus.'),
  rate_limit: rateLimit.optional().describe('How often one client may call. Default: no limit.'),
  limits: z
    .strictObject({
      memory: z
        .int()
        .min(MIN_MEMORY)
        .default(DEFAULTS.memory)
        .describe('Bytes that requests over HTTP may take in all.'),
    })
    .prefault({})
    .describe('What all requests may take together.'),
  cluster: z
    .strictObject({
      secret_env: z
        .string()
        .min(1)
        .describe(
          'The environment variable with the secret that signs session ids, the same for all replicas; two, separated by a comma, while it is replaced.',
        ),
      redis: z
        .string()
        .min(1)
        .describe(
          `The URL of Valkey or Redis, rediss:// for TLS; \${NAME} stands for an environment variable, such as one with the password. Each cluster needs a database of its own, the number at the end: clients of two clusters whose tokens have the same name would share files and limits.`,
        ),
    })
    .optional()
    .describe('What replicas of this server have in common. Not together with history. Default: there are none.'),
});

/** A config file with its defaults filled in. */
export type ConfigFile = z.output<typeof configSchema>;
