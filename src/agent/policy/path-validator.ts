import { RingfenceError } from '../../errors.ts';
import { isFenceError } from '../../fence/index.ts';
import type { Violation } from '../agent-error.ts';
import { BridgeError, SecurityError } from '../bridge-error.ts';
import type { ProjectLinks } from './project-links.ts';
import { projectSegments } from './project-path.ts';
import type { SecurityPolicy } from './security-policy.ts';

/** Decides whether a policy lets a path pass, by its spelling and, for a project on this machine, by where its links lead. */
export class PathValidator {
  readonly policy: SecurityPolicy;

  constructor(policy: SecurityPolicy) {
    this.policy = policy;
  }

  /** The path relative to the project, normalised, `.` for the project itself. Raises a `SecurityError` that names the violation. */
  validate(path: string): string {
    using links = this.policy.openLinks();
    return this.#check(path, links);
  }

  /** The same for many, all or none. */
  validateAll(paths: readonly string[]): string[] {
    using links = this.policy.openLinks();
    return paths.map((path) => this.#check(path, links));
  }

  /** The same by its spelling alone, for a link that is listed but not followed. */
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
