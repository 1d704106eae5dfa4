import type { RingfenceError } from '../errors.ts';
import { AgentError, type AgentErrorCode, type AgentErrorDetails, type Violation } from './agent-error.ts';
import { describeError, type ErrorType } from './error-description.ts';

/** What a `BridgeError` is about. */
export interface BridgeErrorLocation {
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/**
 * An expected failure of a `FilesystemBridge`. `message` says what happened and `instruction` what to do next, both for
 * people and models. Neither shows a host path.
 */
export class BridgeError<C extends AgentErrorCode = AgentErrorCode> extends AgentError<C> {
  readonly errorType: ErrorType;
  readonly instruction: string;

  constructor(code: C, details: AgentErrorDetails[C], where: BridgeErrorLocation = {}) {
    super(code, details, where);
    const { errorType, message, instruction } = describeError(code, details, where.path);
    this.message = message;
    this.errorType = errorType;
    this.instruction = instruction;
  }

  /**
   * Converts a `RingfenceError` to a `BridgeError` of the same code and keeps it as the cause. Returns a `BridgeError`
   * unchanged.
   */
  static from(error: RingfenceError, path?: string): BridgeError {
    if (error instanceof BridgeError) return error;
    const where = { path: error.path ?? path, cause: error };
    const { code, details } = error as AgentError;
    return new BridgeError(code, details, where).addLocation(undefined, error.root);
  }
}

/** The error for a path that a `SecurityPolicy` refuses. Its code is `path_not_allowed`. */
export class SecurityError extends BridgeError<'path_not_allowed'> {
  constructor(violation: Violation, path: string, allowed: readonly string[] = []) {
    super('path_not_allowed', { violation, allowed }, { path });
  }

  get violation(): Violation {
    return this.details.violation;
  }
}
