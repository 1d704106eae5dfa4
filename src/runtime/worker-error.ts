import { RingfenceError } from '../errors.ts';

/** An error in the form in which it is sent between threads. Structured cloning would drop its class and its fields. */
export interface WorkerError {
  /** The name of the error's class. */
  readonly name: string;
  readonly code: string;
  readonly details: object;
  /** The stack trace. */
  readonly cause: string;
}

type ErrorClass = new (code: never, details: never, options: { readonly cause: unknown }) => Error;

/** The error classes that a worker may raise, by class name. */
export type ErrorClasses = Readonly<Record<string, ErrorClass>>;

/**
 * Converts an error for sending. An error that is not a `RingfenceError` gets the code `internal`, and of it only the
 * stack trace is kept.
 */
export function toWorkerError(error: unknown): WorkerError {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (!(error instanceof RingfenceError)) return { name: 'Error', code: 'internal', details: {}, cause };
  const { name, code, details } = error;
  return { name, code, details, cause };
}

/**
 * Restores an error of the class it had in the worker. An error of a class that is not in `classes` becomes a plain
 * `Error`. The worker's stack trace is in `cause`.
 */
export function fromWorkerError({ name, code, details, cause }: WorkerError, classes: ErrorClasses): Error {
  const Class = classes[name];
  if (Class === undefined) return new Error('a worker thread failed', { cause: new Error(cause) });
  return new Class(code as never, details as never, { cause: new Error(cause) });
}
