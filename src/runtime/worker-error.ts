import { type ErrorCode, type ErrorDetails, RingfenceError } from '../errors.ts';

/** An error on its way to another thread. */
export interface WorkerError {
  readonly code: ErrorCode;
  readonly details: ErrorDetails[ErrorCode];
  readonly cause: string;
}

export function toWorkerError(error: unknown): WorkerError {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof RingfenceError) return { code: error.code, details: error.details, cause };
  return { code: 'internal', details: {}, cause };
}

export function fromWorkerError({ code, details, cause }: WorkerError): RingfenceError {
  return new RingfenceError(code, details, { cause: new Error(cause) });
}
