import type { LogLevel } from '../audit/log-level.ts';
import type { HistoryOptions } from '../history/index.ts';
import { type Capability, CHANGING_CAPABILITIES, HISTORY_CAPABILITIES } from '../tools/capabilities.ts';
import type { UndoScope } from '../tools/client.ts';
import type { ResultMode } from '../tools/result-form.ts';

/** The name of a dialect that can be served. */
export type DialectName = 'workspace' | 'memory' | 'classic' | 'guide';

/** What the config says about a root of either kind. */
export interface AnyRootConfig {
  readonly name: string;
  readonly allowed: readonly Capability[];
  /** Where the operator wrote the folder or the allowed paths, such as `roots[0].path`, for messages. */
  readonly origin: string;
}

/** A root that is a folder of this machine. */
export interface LocalRootConfig extends AnyRootConfig {
  /** The absolute host path of the folder. */
  readonly path: string;
  readonly agent?: undefined;
  /** Whether nothing in it may be changed, whatever `allowed` says. */
  readonly readOnly?: boolean;
  /** Patterns of what does not exist for any client; by default none. */
  readonly deny?: readonly string[];
  /** Patterns of what may be read but not changed; by default `DEFAULT_PROTECT`. */
  readonly protect?: readonly string[];
  /** What a person has to agree to first; by default nothing. */
  readonly confirm?: readonly Capability[];
  /** What is kept of its changes; by default nothing. */
  readonly history?: HistoryOptions | undefined;
}

/** A root of client-side files. */
export interface AgentRootConfig extends AnyRootConfig {
  readonly path?: undefined;
  readonly history?: undefined;
  readonly agent: AgentConfig;
}

/** A root as configured. */
export type RootConfig = LocalRootConfig | AgentRootConfig;

/**
 * Returns what may be done in a root: what it allows, without what changes anything if it is read-only, and without
 * what needs a history if it has none.
 */
export function allowedOn(root: RootConfig): readonly Capability[] {
  const isReadOnly = root.path !== undefined && root.readOnly === true;
  return root.allowed.filter(
    (tool) =>
      !(isReadOnly && CHANGING_CAPABILITIES.includes(tool)) &&
      (root.history !== undefined || !HISTORY_CAPABILITIES.includes(tool)),
  );
}

/** Reports whether anything in a root may be changed. */
export function canChange(root: RootConfig): boolean {
  if (root.path === undefined || root.readOnly) return false;
  return allowedOn(root).some((tool) => tool === 'copy' || CHANGING_CAPABILITIES.includes(tool));
}

/** The configuration of client-side files. */
export interface AgentConfig {
  /** The paths that may be asked for, relative to the client's project; undefined for `DEFAULT_ALLOWED_PATHS`. */
  readonly allowedPaths: readonly string[] | undefined;
  /** The cache size per client. */
  readonly cacheBytes: number;
  /** How long to wait for an answer, in seconds. */
  readonly timeout: number;
}

/**
 * The configuration of client-side files of a project that this machine has a copy of, in which symbolic links are
 * resolved.
 */
export interface ProjectConfig extends AgentConfig {
  /** The absolute host path of the copy. */
  readonly project: string;
  /** Where the operator wrote the allowed paths, such as `--allow`, for messages. */
  readonly origin: string;
}

/**
 * A dialect to serve. `root` is set if its tools work on one root without naming it, `project` if they accept
 * client-side files.
 */
export interface DialectConfig {
  readonly name: DialectName;
  readonly root: string | undefined;
  readonly project?: ProjectConfig | undefined;
}

/** A client that may call over HTTP, and the roots that it may see. Holds the hash of its token, never the token. */
export interface TokenConfig {
  readonly name: string;
  readonly sha256: Buffer;
  readonly roots: readonly string[];
  /** What it may do, as far as the roots allow it; by default all that they allow. */
  readonly tools?: readonly Capability[];
  /** Whose changes it may list and undo; by default its own. */
  readonly undo?: UndoScope;
  /** Whether it may be used for the console and the metrics; by default not. */
  readonly console?: boolean;
}

/** The clients that may call over HTTP. */
export interface AuthConfig {
  readonly tokens: readonly TokenConfig[];
}

/** Whether the kernel confines the process as well: where it can, always or not at all. */
export const LANDLOCK_MODES = ['auto', 'require', 'off'] as const;

/** One of `LANDLOCK_MODES`. */
export type LandlockMode = (typeof LANDLOCK_MODES)[number];

/** What `destructiveHint` of a tool says: what the contract of its dialect fixes, or whether it can lose data. */
export const ANNOTATIONS = ['spec', 'honest'] as const;

/** How often one client may call. */
export interface RateLimitConfig {
  readonly callsPerSecond: number;
  /** How many calls may come at once after a pause. */
  readonly burst: number;
}

/** What the replicas of a server have in common. */
export interface ClusterConfig {
  /** What is known to all replicas and to nobody else: the first signs, all are accepted. */
  readonly secrets: readonly [string, ...string[]];
  /** The URL of Valkey or Redis. It may hold a password. */
  readonly redis: string;
}

/** The complete configuration of a server, checked. */
export interface Config {
  /** The path of the config file as given on the command line; undefined without one. */
  readonly file: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly maxFullReadSize: number;
  /** The time limit of one call, in seconds. */
  readonly requestTimeout: number;
  /** How long a person has to agree to a call, in seconds. */
  readonly confirmTimeout: number;
  /** How results are written for clients: a mode for all, or `auto` to choose by the client's name. */
  readonly results: ResultMode | 'auto';
  /** The most characters of one result; undefined for the default of each mode. */
  readonly maxResultChars: number | undefined;
  readonly annotations: (typeof ANNOTATIONS)[number];
  readonly logLevel: LogLevel;
  /** The absolute host path of the file that the log goes to; undefined for stderr. */
  readonly logFile: string | undefined;
  readonly durableWrites: boolean;
  readonly roots: readonly RootConfig[];
  readonly dialects: readonly [DialectConfig, ...DialectConfig[]];
  /** The clients that may call over HTTP; undefined if anyone may. */
  readonly auth: AuthConfig | undefined;
  /**
   * Whether Landlock confines the process, which only the command line does; undefined if the config file does not say.
   */
  readonly landlock: LandlockMode | undefined;
  /** Whether the console and the metrics are served over HTTP. */
  readonly console: boolean;
  /** Undefined if clients may call as often as they like. */
  readonly rateLimit: RateLimitConfig | undefined;
  /** The memory in bytes that requests over HTTP may take in all. */
  readonly memory: number;
  /** Undefined for a server without replicas. */
  readonly cluster?: ClusterConfig | undefined;
}
