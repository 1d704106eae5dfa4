import path from 'node:path';
import { RingfenceError } from '../../errors.ts';
import { type Backend, chooseBackend, fromSystem } from '../../fence/index.ts';
import { BridgeError } from '../bridge-error.ts';
import { ProjectLinks } from './project-links.ts';
import { projectSegments } from './project-path.ts';

export const DEFAULT_ALLOWED_PATHS = ['docs/', 'src/', 'tests/', '.guide/', '.todo/'] as const;

interface AnyPolicy {
  /** Folders or files, relative to the project root or absolute inside it. `.` is the whole project. */
  readonly allowedPaths?: readonly string[] | undefined;
  /** Told of each configured path that does not exist. `warnings` holds the same. */
  readonly warn?: ((warning: string) => void) | undefined;
  /** The fence that links are resolved with; the strongest that works here by default. */
  readonly backend?: Backend | undefined;
}

export interface LocalPolicy extends AnyPolicy {
  readonly projectRoot: string;
  readonly remote?: false | undefined;
}

export interface RemotePolicy extends AnyPolicy {
  /** Where the project lies on the other machine, in POSIX spelling; `/` by default. */
  readonly projectRoot?: string | undefined;
  /** The project is not on this machine: nothing is looked up here, and links are the other side's concern. */
  readonly remote: true;
}

export type SecurityPolicyOptions = LocalPolicy | RemotePolicy;

/** Which paths of a project may be asked for and handed over. What is not allowed is denied. */
export class SecurityPolicy {
  /** Absolute. */
  readonly projectRoot: string;
  /** Absolute, without trailing slashes. */
  readonly allowedPaths: readonly string[];
  /** The same relative to the project, `.` for all of it: for messages. */
  readonly allowed: readonly string[];
  readonly remote: boolean;
  readonly warnings: readonly string[];
  readonly #segments: readonly (readonly string[])[];
  readonly #backend: Backend | undefined;

  /** Raises a `SecurityError` for an allowed path that leaves the project. */
  constructor(options: SecurityPolicyOptions) {
    const { projectRoot = '/', allowedPaths = DEFAULT_ALLOWED_PATHS, remote = false } = options;
    const resolve = remote ? path.posix.resolve : path.resolve;
    this.remote = remote;
    this.projectRoot = remote ? resolve('/', projectRoot) : resolve(projectRoot);
    this.#backend = remote ? undefined : (options.backend ?? chooseBackend());
    const project = { projectRoot: this.projectRoot };
    this.#segments = allowedPaths.map((allowed) => projectSegments(allowed, project));
    this.allowed = this.#segments.map((segments) => segments.join('/') || '.');
    this.allowedPaths = this.#segments.map((segments) => resolve(this.projectRoot, ...segments));
    this.warnings = options.allowedPaths === undefined ? [] : this.#missing();
    for (const warning of this.warnings) options.warn?.(warning);
  }

  allows(segments: readonly string[]): boolean {
    return this.#segments.some((allowed) => allowed.every((name, i) => name === segments[i]));
  }

  /** For following links of a project on this machine; undefined where there is nothing to follow. @internal */
  openLinks(): ProjectLinks | undefined {
    if (this.#backend === undefined) return undefined;
    try {
      return ProjectLinks.open(this.projectRoot, this.#backend);
    } catch (error) {
      const failure = fromSystem(error);
      throw failure instanceof RingfenceError ? BridgeError.from(failure) : failure;
    }
  }

  #missing(): string[] {
    if (this.remote) return [];
    try {
      using links = this.openLinks();
      if (links === undefined) return ['the project root does not exist'];
      return this.#segments.flatMap((segments, i) => problemOf(links, segments, this.allowed[i] ?? ''));
    } catch (error) {
      if (!(error instanceof RingfenceError)) throw error;
      return [`the project root cannot be read (${error.code})`];
    }
  }
}

function problemOf(links: ProjectLinks, segments: readonly string[], shown: string): string[] {
  try {
    return links.resolve(segments).exists ? [] : [`allowed path does not exist: ${shown}`];
  } catch (error) {
    if (!(error instanceof RingfenceError)) throw error;
    return [`allowed path cannot be used (${error.code}): ${shown}`];
  }
}
