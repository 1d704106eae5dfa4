import { RingfenceError } from '../../errors.ts';
import { isFenceError } from '../../fence/index.ts';
import type { Violation } from '../agent-error.ts';
import { BridgeError, SecurityError } from '../bridge-error.ts';
import type { ProjectLinks } from './project-links.ts';
import { projectSegments } from './project-path.ts';
import type { SecurityPolicy } from './security-policy.ts';

/**
 * Checks paths against a `SecurityPolicy`: by their spelling and, for a project on this machine, by where their
 * symbolic links lead. The check holds at the time of the call; a link created later is not noticed.
 */
export class PathValidator {
  readonly policy: SecurityPolicy;

  constructor(policy: SecurityPolicy) {
    this.policy = policy;
  }

  /**
   * Returns the normalised path relative to the project, `.` for the project itself. Raises `path_not_allowed` as a
   * `SecurityError` that names the violation, `name_too_long`, and `invalid_argument` for a path that is not a string.
   */
  validate(path: string): string {
    using links = this.policy.openLinks();
    return this.#check(path, links);
  }

  /**
   * Returns the normalised paths, or raises the error of the first one that is refused. Raises the codes of `validate`.
   */
  validateAll(paths: readonly string[]): string[] {
    using links = this.policy.openLinks();
    return paths.map((path) => this.#check(path, links));
  }

  /**
   * Returns the normalised path without following links, for a link that is listed but not opened. Raises the codes of
   * `validate`.
   */
  validateSpelling(path: string): string {
    return this.#check(path, undefined);
  }

  #check(path: string, links: ProjectLinks | undefined): string {
    if (typeof path !== 'string')
      throw new BridgeError('invalid_argument', { problem: 'path must be a string', argument: 'path' });
    const refuse = (violation: Violation) => new SecurityError(violation, path, this.policy.allowed);
    const segments = projectSegments(path, this.policy);
    if (!this.policy.allows(segments)) throw refuse('not_allowed');
    if (links !== undefined) {
      try {
        if (!this.policy.allows(links.resolve(segments).segments)) throw refuse('link');
      } catch (error) {
        if (isFenceError(error, 'outside_root', 'invalid_path')) throw refuse('link');
        if (isFenceError(error, 'link_loop')) throw refuse('circle');
        throw error instanceof RingfenceError ? BridgeError.from(error, path) : error;
      }
    }
    return segments.join('/') || '.';
  }
}
