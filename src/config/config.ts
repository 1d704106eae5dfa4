import type { LogLevel } from '../audit/log-level.ts';
import type { Capability } from '../tools/capabilities.ts';
import type { AuthConfig } from './auth-config.ts';
import type { DialectName } from './schema.ts';

interface AnyRootConfig {
  readonly name: string;
  readonly allowed: readonly Capability[];
  /** Where the operator wrote the folder, or the allowed paths, for messages. */
  readonly origin: string;
}

export interface LocalRootConfig extends AnyRootConfig {
  /** An absolute folder of this machine. */
  readonly path: string;
  readonly agent?: undefined;
}

/** A root whose files are on the client's side. */
export interface AgentRootConfig extends AnyRootConfig {
  readonly path?: undefined;
  readonly agent: AgentConfig;
}

export type RootConfig = LocalRootConfig | AgentRootConfig;

/** Files of the client's side: what may be asked for, how much is kept for each client, and how long an answer may take. */
export interface AgentConfig {
  /** Relative to the top of the client's project; undefined for the usual ones. */
  readonly allowedPaths: readonly string[] | undefined;
  readonly cacheBytes: number;
  /** Seconds. */
  readonly timeout: number;
}

/** The same for a project of which this machine has a copy to look links up in. */
export interface ProjectConfig extends AgentConfig {
  /** An absolute folder of this machine. */
  readonly project: string;
  /** Where the operator wrote the allowed paths, for messages. */
  readonly origin: string;
}

/** A dialect that is spoken, and what its tools work on where they name no root. */
export interface DialectConfig {
  readonly name: DialectName;
  readonly root: string | undefined;
  readonly project?: ProjectConfig | undefined;
}

/** What the operator decided, checked and complete. */
export interface Config {
  /** The config file as given on the command line; undefined if only folders were. */
  readonly file: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly maxFullReadSize: number;
  /** Seconds, per call. */
  readonly requestTimeout: number;
  readonly logLevel: LogLevel;
  readonly durableWrites: boolean;
  readonly roots: readonly RootConfig[];
  readonly dialects: readonly [DialectConfig, ...DialectConfig[]];
  /** Who may call over HTTP; undefined if anyone may. */
  readonly auth: AuthConfig | undefined;
}
