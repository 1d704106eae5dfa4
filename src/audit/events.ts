import type { Logger } from 'pino';
import type { BridgeEvent } from '../agent/bridge/bridge-event.ts';
import { RingfenceError } from '../errors.ts';
import type { Client } from '../tools/client.ts';
import { type ErrorCode, isCode } from '../tools/errors.ts';
import type { Activity } from './activity.ts';
import { describeThrown, framesOf } from './describe-thrown.ts';

/** One finished call, as it is logged. It names things; it never holds what is in files. */
export interface CallEvent {
  readonly tool: string;
  readonly dialect: string;
  readonly client: Client;
  readonly root: string | undefined;
  readonly path: string | undefined;
  /** Every argument that says what the call was about. */
  readonly about: Readonly<Record<string, string>>;
  readonly durationMs: number;
  readonly responseBytes: number;
  readonly failure: CallFailure | undefined;
}

/** `cause` is what was thrown, where something was. */
export interface CallFailure {
  readonly code: ErrorCode | 'unknown_tool';
  readonly cause?: unknown;
}

const VIOLATIONS: ReadonlySet<string> = new Set<ErrorCode>([
  'outside_root',
  'invalid_path',
  'path_not_allowed',
  'tool_not_allowed',
]);
const MAX_FIELD = 4096;
/** Enough to see by which way a violation came, not a page for each. */
const MAX_FRAMES = 8;

/**
 * Writes one line: violations of the fence, a policy or an allowlist at WARN, bugs at ERROR, anything else at INFO. Counts
 * it for its client.
 */
export function recordCall(logger: Logger, event: CallEvent, activity?: Activity): void {
  const { failure, client } = event;
  activity?.call(client, failure !== undefined);
  if (failure === undefined || isOrdinary(failure)) {
    logger.info(fieldsOf(event), 'call');
  } else if (failure.code === 'internal') {
    logger.error({ ...fieldsOf(event), error: describeThrown(failure.cause) }, 'internal error');
  } else {
    recordViolation(logger, { ...event, failure, fields: fieldsOf(event) }, activity);
  }
}

/** Whether a failure is nothing to warn of. */
function isOrdinary({ code }: CallFailure): boolean {
  return code !== 'internal' && !VIOLATIONS.has(code);
}

function fieldsOf(event: CallEvent): Record<string, unknown> {
  const { about, failure } = event;
  const fields: Record<string, unknown> = {};
  for (const name in about) fields[name] = cut(about[name]);
  fields.tool = cut(event.tool);
  fields.dialect = event.dialect;
  fields.client = event.client.name;
  fields.root = cut(event.root);
  fields.path = cut(event.path);
  fields.outcome = failure === undefined ? 'success' : 'error';
  if (failure !== undefined) fields.code = failure.code;
  fields.duration_ms = Math.round(event.durationMs * 1000) / 1000;
  fields.response_bytes = event.responseBytes;
  if (failure !== undefined && isOrdinary(failure)) fields.errno = errnoOf(failure.cause);
  return fields;
}

/** A denied attempt: who made it, with which failure, and the fields of its line that say what it was. */
export interface ViolationEvent extends Pick<CallEvent, 'path' | 'client'> {
  readonly failure: CallFailure;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Writes one line at WARN: what was tried, where it would have led if that is known, by which way it came, and how often this
 * client tried before. Counts the attempt for its client.
 */
export function recordViolation(logger: Logger, event: ViolationEvent, activity: Activity | undefined): void {
  const { failure, path, client, fields } = event;
  const { code, cause } = failure;
  const attempted = (cause instanceof RingfenceError ? cause.path : undefined) ?? path;
  const violation = {
    violation: isCode(cause, 'path_not_allowed') ? cause.details.violation : code,
    attempted_path: cut(attempted),
    resolved_path: cut(isCode(cause, 'outside_root') ? cause.details.resolved : undefined),
    previous_violations: activity?.violation(client, attempted),
    stack: framesOf(cause).slice(0, MAX_FRAMES),
  };
  logger.warn({ ...fields, ...violation }, 'security violation');
}

/**
 * Writes one line at TRACE for an operation on files of a client's side. A violation gets its line at WARN where the call that
 * it ends is logged.
 */
export function recordOperation(logger: Logger, event: BridgeEvent, client: string | undefined): void {
  if (!logger.isLevelEnabled('trace')) return;
  const { operation, path, result, cached, errorType, violation, durationMs } = event;
  const fields = { operation, path, client, result, cached, error_type: errorType, violation, duration_ms: durationMs };
  logger.trace(fields, 'operation');
}

function cut(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}

function errnoOf(cause: unknown): string | undefined {
  return isCode(cause, 'io_error') ? cause.details.errno : undefined;
}
