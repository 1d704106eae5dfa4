import { RingfenceError } from '../errors.ts';

/** An error on its way from a worker thread: structured cloning would drop its class and its fields. */
export interface WorkerError {
  /** The name of its class. */
  readonly name: string;
  readonly code: string;
  readonly details: object;
  /** Its stack. */
  readonly cause: string;
}

type ErrorClass = new (code: never, details: never, options: { readonly cause: unknown }) => Error;

/** The classes that errors of a worker may have, by name. */
export type ErrorClasses = Readonly<Record<string, ErrorClass>>;

export function toWorkerError(error: unknown): WorkerError {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (!(error instanceof RingfenceError)) return { name: 'Error', code: 'internal', details: {}, cause };
  const { name, code, details } = error;
  return { name, code, details, cause };
}

/** Makes an instance of the class that the error had; anything unexpected becomes a plain `Error`. */
export function fromWorkerError({ name, code, details, cause }: WorkerError, classes: ErrorClasses): Error {
  const Class = classes[name];
  if (Class === undefined) return new Error('a worker thread failed', { cause: new Error(cause) });
  return new Class(code as never, details as never, { cause: new Error(cause) });
}
