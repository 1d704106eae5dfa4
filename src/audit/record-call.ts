import type { Logger } from 'pino';
import type { BridgeEvent } from '../agent/bridge/bridge-event.ts';
import { RingfenceError } from '../errors.ts';
import type { Client } from '../tools/client.ts';
import { type ErrorCode, isCode } from '../tools/errors.ts';
import type { Activity } from './activity.ts';
import { describeThrown, framesOf } from './describe-thrown.ts';
import type { TraceContext } from './trace-context.ts';

/** One finished call, for the log. Must not contain file content. */
export interface CallEvent {
  readonly tool: string;
  readonly dialect: string;
  readonly client: Client;
  /** The name of the client's program, as it declared itself. It is of any length and not checked. */
  readonly clientName?: string | undefined;
  readonly root: string | undefined;
  readonly path: string | undefined;
  /** The values of the arguments that the tool declares as its `subject`. */
  readonly about: Readonly<Record<string, string>>;
  readonly durationMs: number;
  readonly responseBytes: number;
  readonly failure: CallFailure | undefined;
  /** What the call changed in roots with history; undefined if nothing. */
  readonly change?: LoggedChange | undefined;
  /** The client's trace that the call belongs to; undefined if it names none. */
  readonly trace?: TraceContext | undefined;
}

/** Is told of every finished call after its response is written, as the log is. Must be quick and must not throw. */
export type CallObserver = (event: CallEvent) => void;

/** How a call is found in the history of the roots that it changed. */
export interface LoggedChange {
  readonly call: string | undefined;
  /** The id of the change; one for each root, with spaces between them. */
  readonly change: string;
  /** How many entries were replaced or removed without being kept. */
  readonly unkept: number | undefined;
}

/** How a call failed. `cause` is the thrown value, if one was thrown. */
export interface CallFailure {
  readonly code: ErrorCode | 'unknown_tool';
  readonly cause?: unknown;
  /** The rule of the root that decided, if one did. */
  readonly rule?: { readonly rule: string; readonly pattern: string } | undefined;
}

const VIOLATIONS: ReadonlySet<string> = new Set<ErrorCode>([
  'outside_root',
  'invalid_path',
  'path_not_allowed',
  'tool_not_allowed',
  'not_allowed',
]);
const MAX_FIELD = 4096;
/** Enough to see which code path led to a violation without flooding the log. */
const MAX_FRAMES = 8;

/**
 * Logs a finished call as one line and counts it for its client. Violations of the fence, a policy or an allowlist are
 * logged at WARN, bugs at ERROR, everything else at INFO.
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

/** Reports whether a failure is neither a violation nor a bug. */
function isOrdinary({ code }: CallFailure): boolean {
  return code !== 'internal' && !isViolation(code);
}

/** Whether a code says that the fence, a policy or an allowlist denied an attempt. */
export function isViolation(code: string): boolean {
  return VIOLATIONS.has(code);
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
  if (failure?.rule !== undefined) {
    fields.rule = failure.rule.rule;
    fields.pattern = failure.rule.pattern;
  }
  fields.duration_ms = Math.round(event.durationMs * 1000) / 1000;
  fields.response_bytes = event.responseBytes;
  if (event.change !== undefined) {
    fields.call = event.change.call;
    fields.change = event.change.change;
    fields.unkept = event.change.unkept;
  }
  if (event.trace !== undefined) {
    fields.trace_id = event.trace.traceId;
    fields.span_id = event.trace.spanId;
    fields.trace_state = event.trace.state;
  }
  if (failure !== undefined && isOrdinary(failure)) fields.errno = errnoDetail(failure.cause);
  return fields;
}

/** A denied attempt. `fields` are the log fields that identify the operation. */
export interface ViolationEvent extends Pick<CallEvent, 'path' | 'client'> {
  readonly failure: CallFailure;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Logs a denied attempt as one line at WARN and counts it for its client. The line has the attempted path, the resolved
 * path if it is known, the first stack frames, and how many violations this client made before.
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
 * Logs an operation on client-side files as one line at TRACE. Violations are logged here like any other failure;
 * `recordCall` logs them at WARN.
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

function errnoDetail(cause: unknown): string | undefined {
  return isCode(cause, 'io_error') ? cause.details.errno : undefined;
}
