import type { Logger } from 'pino';
import type { BridgeEvent } from '../agent/bridge/bridge-event.ts';

/**
 * Writes one line at TRACE for an operation on files of a client's side. A violation is told at WARN where the call that it
 * ends is logged, with all that is known about that.
 */
export function recordOperation(logger: Logger, event: BridgeEvent, client: string | undefined): void {
  if (!logger.isLevelEnabled('trace')) return;
  const { operation, path, result, cached, errorType, violation, durationMs } = event;
  const fields = { operation, path, client, result, cached, error_type: errorType, violation, duration_ms: durationMs };
  logger.trace(fields, 'operation');
}
