import path from 'node:path';
import { RingfenceError } from '../../errors.ts';
import { type Backend, chooseBackend, fromSystem } from '../../fence/index.ts';
import { BridgeError } from '../bridge-error.ts';
import { ProjectLinks } from './project-links.ts';
import { projectSegments } from './project-path.ts';

/** The allowed paths of a policy that names none. */
export const DEFAULT_ALLOWED_PATHS = ['docs/', 'src/', 'tests/', '.guide/', '.todo/'] as const;

/** The options that a policy has wherever the project is. */
export interface AnyPolicy {
  /** Folders or files, relative to the project root or absolute inside it. `.` allows the whole project. */
  readonly allowedPaths?: readonly string[] | undefined;
  /** Called once for each entry of `warnings`. */
  readonly warn?: ((warning: string) => void) | undefined;
  /** The fence backend for resolving links; by default the strongest that works on this machine. */
  readonly backend?: Backend | undefined;
}

/** The policy for a project whose folder is on this machine, so that its links can be resolved. */
export interface LocalPolicy extends AnyPolicy {
  readonly projectRoot: string;
  readonly remote?: false | undefined;
}

/** The policy for a project that only the client can access. */
export interface RemotePolicy extends AnyPolicy {
  /** The project's POSIX path on the client's machine; `/` by default. */
  readonly projectRoot?: string | undefined;
  /**
   * Paths are checked by their spelling only. The client has to make sure that its links stay inside the allowed paths.
   */
  readonly remote: true;
}

/** The options of a `SecurityPolicy`. */
export type SecurityPolicyOptions = LocalPolicy | RemotePolicy;

/**
 * Defines which paths of a project may be asked for and handed over: the allowed paths and everything below them,
 * nothing else.
 */
export class SecurityPolicy {
  /** The absolute path of the project. */
  readonly projectRoot: string;
  /** The allowed paths, absolute and without trailing slashes. */
  readonly allowedPaths: readonly string[];
  /** The allowed paths relative to the project, `.` for the whole project. Shown in messages. */
  readonly allowed: readonly string[];
  readonly remote: boolean;
  /** One line for each configured path that does not exist or cannot be used. */
  readonly warnings: readonly string[];
  readonly #segments: readonly (readonly string[])[];
  readonly #backend: Backend | undefined;

  /** Raises `path_not_allowed` as a `SecurityError` for an allowed path outside the project. */
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

  /** Whether a path below the project root is allowed. Does not follow links. */
  allows(segments: readonly string[]): boolean {
    return this.#segments.some((allowed) => allowed.every((name, i) => name === segments[i]));
  }

  /**
   * Opens the project folder to resolve links. Returns undefined for a remote project and for a folder that does not
   * exist. Raises the codes of `fromSystem` as a `BridgeError`.
   * @internal
   */
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
