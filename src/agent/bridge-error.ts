import { type ErrorCode, type ErrorDetails, RingfenceError, type Violation } from '../errors.ts';
import { type ErrorType, wordError } from './error-wording.ts';

interface BridgeErrorLocation {
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of the bridge, worded for people and agents: `message` says what happened, `instruction` what to do next. */
export class BridgeError<C extends ErrorCode = ErrorCode> extends RingfenceError<C> {
  readonly errorType: ErrorType;
  readonly instruction: string;

  constructor(code: C, details: ErrorDetails[C], where: BridgeErrorLocation = {}) {
    super(code, details, where);
    const { errorType, message, instruction } = wordError(code, details, where.path);
    this.name = 'BridgeError';
    this.message = message;
    this.errorType = errorType;
    this.instruction = instruction;
  }

  /** Any failure of the closed list in the bridge's words; one that has them already stays as it is. */
  static from(error: RingfenceError, path?: string): BridgeError {
    if (error instanceof BridgeError) return error;
    const where = { path: error.path ?? path, cause: error };
    return new BridgeError(error.code, error.details, where).locate(undefined, error.root);
  }
}

/** A path that the policy refuses. */
export class SecurityError extends BridgeError<'path_not_allowed'> {
  constructor(violation: Violation, path: string, allowed: readonly string[] = []) {
    super('path_not_allowed', { violation, allowed }, { path });
    this.name = 'SecurityError';
  }

  get violation(): Violation {
    return this.details.violation;
  }
}
