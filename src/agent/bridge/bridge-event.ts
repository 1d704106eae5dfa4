import type { Violation } from '../agent-error.ts';
import type { BridgeError } from '../bridge-error.ts';
import type { ErrorType } from '../error-description.ts';

export type BridgeOperation =
  | 'read_file'
  | 'read_cached'
  | 'list_directory'
  | 'cache_file'
  | 'store_listing'
  | 'receive_file';

/** One operation of a bridge, done or refused. It holds no content. */
export interface BridgeEvent {
  readonly operation: BridgeOperation;
  /** As the caller gave it. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly durationMs: number;
  readonly result: 'ok' | 'error';
  /** Whether the cache had it already. */
  readonly cached?: boolean;
  readonly errorType?: ErrorType;
  readonly violation?: Violation;
  /** For its stack. */
  readonly error?: BridgeError;
}

export type BridgeAudit = (event: BridgeEvent) => void;

/** What is known of a failure, for the log. */
export function failureOf(error: BridgeError): Pick<BridgeEvent, 'errorType' | 'violation' | 'error'> {
  const { errorType } = error;
  return error.code === 'path_not_allowed'
    ? { errorType, violation: (error as BridgeError<'path_not_allowed'>).details.violation, error }
    : { errorType, error };
}
