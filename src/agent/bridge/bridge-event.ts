import type { Violation } from '../agent-error.ts';
import type { BridgeError } from '../bridge-error.ts';
import type { ErrorType } from '../error-description.ts';

/** The operations that a bridge reports. */
export type BridgeOperation =
  | 'read_file'
  | 'read_cached'
  | 'list_directory'
  | 'cache_file'
  | 'store_listing'
  | 'receive_file';

/** One finished operation of a bridge, for an audit log. Holds no file content. */
export interface BridgeEvent {
  readonly operation: BridgeOperation;
  /** The path as the caller gave it. */
  readonly path: string;
  /** When the operation started, in milliseconds since 1970. */
  readonly time: number;
  readonly durationMs: number;
  readonly result: 'ok' | 'error';
  /** Whether the result came from the cache. Absent for operations that do not read. */
  readonly cached?: boolean;
  readonly errorType?: ErrorType;
  readonly violation?: Violation;
  /** The error itself, for its stack. */
  readonly error?: BridgeError;
}

/** Receives every finished operation of a bridge. It is called synchronously and must not throw. */
export type BridgeAudit = (event: BridgeEvent) => void;

/** Returns the event fields that describe an error. */
export function errorFieldsOf(error: BridgeError): Pick<BridgeEvent, 'errorType' | 'violation' | 'error'> {
  const { errorType } = error;
  return error.code === 'path_not_allowed'
    ? { errorType, violation: (error as BridgeError<'path_not_allowed'>).details.violation, error }
    : { errorType, error };
}
