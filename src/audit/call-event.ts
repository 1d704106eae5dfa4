import type { Logger } from 'pino';
import { RingfenceError } from '../errors.ts';
import type { Client } from '../tools/client.ts';
import { type ErrorCode, isCode } from '../tools/errors.ts';
import type { Activity } from './activity.ts';

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
    logger.info(fieldsOf(event), MESSAGE);
  } else if (failure.code === 'internal') {
    logger.error({ ...fieldsOf(event), error: describeThrown(failure.cause) }, 'internal error');
  } else {
    logger.warn({ ...fieldsOf(event), ...violationFields(failure, event, activity) }, 'security violation');
  }
}

/** Whether a failure is nothing to warn of. */
function isOrdinary({ code }: CallFailure): boolean {
  return code !== 'internal' && !VIOLATIONS.has(code);
}

const MESSAGE = 'call';

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

/** What was tried, where it would have led if that is known, by which way it came, and how often before. */
export function violationFields(
  { code, cause }: CallFailure,
  { path, client }: Pick<CallEvent, 'path' | 'client'>,
  activity: Activity | undefined,
): object {
  const attempted = (cause instanceof RingfenceError ? cause.path : undefined) ?? path;
  return {
    violation: isCode(cause, 'path_not_allowed') ? cause.details.violation : code,
    attempted_path: cut(attempted),
    resolved_path: cut(isCode(cause, 'outside_root') ? cause.details.resolved : undefined),
    previous_violations: activity?.violation(client, attempted),
    stack: framesOf(cause).slice(0, MAX_FRAMES),
  };
}

function cut(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}

function errnoOf(cause: unknown): string | undefined {
  return isCode(cause, 'io_error') ? cause.details.errno : undefined;
}

/**
 * Where a bug happened: the error's name and stack frames, along its causes. Messages are left out unless they come from
 * the system: those of parsers and of the language itself quote the values they failed on, which may be file content.
 */
export function describeThrown(thrown: unknown, depth = 0): object {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  return {
    name: thrown.name,
    code,
    syscall,
    message: syscall === undefined ? undefined : thrown.message,
    stack: framesOf(thrown),
    cause: thrown.cause === undefined || depth > 4 ? undefined : describeThrown(thrown.cause, depth + 1),
  };
}

/** Where an error was made, without its message. */
function framesOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error)) return [];
  // A message may have lines that look like frames, so it is cut off as a whole.
  const { stack = '', message } = thrown;
  const at = stack.indexOf(message);
  const frames = stack.slice(at === -1 ? 0 : at + message.length).split('\n');
  return frames.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}
