import type { RingfenceError } from '../errors.ts';
import { AgentError, type AgentErrorCode, type AgentErrorDetails, type Violation } from './agent-error.ts';
import { type ErrorType, wordError } from './error-description.ts';

export interface BridgeErrorLocation {
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of the bridge, worded for people and agents: `message` says what happened, `instruction` what to do next. */
export class BridgeError<C extends AgentErrorCode = AgentErrorCode> extends AgentError<C> {
  readonly errorType: ErrorType;
  readonly instruction: string;

  constructor(code: C, details: AgentErrorDetails[C], where: BridgeErrorLocation = {}) {
    super(code, details, where);
    const { errorType, message, instruction } = wordError(code, details, where.path);
    this.message = message;
    this.errorType = errorType;
    this.instruction = instruction;
  }

  /** Any failure of the closed list in the bridge's words; one that has them already stays as it is. */
  static from(error: RingfenceError, path?: string): BridgeError {
    if (error instanceof BridgeError) return error;
    const where = { path: error.path ?? path, cause: error };
    const { code, details } = error as AgentError;
    return new BridgeError(code, details, where).locate(undefined, error.root);
  }
}

/** A path that the policy refuses. */
export class SecurityError extends BridgeError<'path_not_allowed'> {
  constructor(violation: Violation, path: string, allowed: readonly string[] = []) {
    super('path_not_allowed', { violation, allowed }, { path });
  }

  get violation(): Violation {
    return this.details.violation;
  }
}
