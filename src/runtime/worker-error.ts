import { type ErrorCode, type ErrorDetails, RingfenceError } from '../errors.ts';

/** An error on its way to another thread. */
export interface Failure {
  readonly code: ErrorCode;
  readonly details: ErrorDetails[ErrorCode];
  readonly cause: string;
}

export function toFailure(error: unknown): Failure {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof RingfenceError) return { code: error.code, details: error.details, cause };
  return { code: 'internal', details: {}, cause };
}

export function fromFailure({ code, details, cause }: Failure): RingfenceError {
  return new RingfenceError(code, details, { cause: new Error(cause) });
}
