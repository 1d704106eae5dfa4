import type { LogLevel } from '../audit/log.ts';
import type { Capability } from '../tools/capabilities.ts';
import type { AuthConfig } from './auth-config.ts';
import type { DialectName } from './schema.ts';

export interface RootConfig {
  readonly name: string;
  /** An absolute folder of this machine. */
  readonly path: string;
  readonly allowed: readonly Capability[];
  /** Where the operator wrote the folder, for messages. */
  readonly origin: string;
}

/** A dialect that is spoken, and the root of one whose tools name none. */
export interface DialectConfig {
  readonly name: DialectName;
  readonly root: string | undefined;
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
