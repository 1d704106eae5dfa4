import type { Logger } from 'pino';
import { type ErrorCode, isCode, RingfenceError } from '../errors.ts';

/** One finished call, as it is logged. It names things; it never holds what is in files. */
export interface CallEvent {
  readonly tool: string;
  readonly dialect: string;
  /** By what the client is known, where it is; never what lets it in. */
  readonly client: string | undefined;
  readonly root: string | undefined;
  readonly path: string | undefined;
  /** Every argument that says what the call was about. */
  readonly about: Readonly<Record<string, string>>;
  readonly durationMs: number;
  readonly responseBytes: number;
  readonly failure: Failure | undefined;
}

/** `cause` is what was thrown, where something was. */
export interface Failure {
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

/** Writes one line: violations of the fence or an allowlist at WARN, bugs at ERROR, anything else at INFO. */
export function recordCall(logger: Logger, event: CallEvent): void {
  const { failure } = event;
  const fields = {
    ...mapValues(event.about, cut),
    tool: cut(event.tool),
    dialect: event.dialect,
    client: event.client,
    root: cut(event.root),
    path: cut(event.path),
    outcome: failure === undefined ? 'success' : 'error',
    code: failure?.code,
    duration_ms: Math.round(event.durationMs * 1000) / 1000,
    response_bytes: event.responseBytes,
  };
  if (failure === undefined) {
    logger.info(fields, 'call');
  } else if (failure.code === 'internal') {
    logger.error({ ...fields, error: trace(failure.cause) }, 'internal error');
  } else if (VIOLATIONS.has(failure.code)) {
    logger.warn({ ...fields, ...attempt(failure.cause, event) }, 'security violation');
  } else {
    logger.info({ ...fields, errno: errnoOf(failure.cause) }, 'call');
  }
}

/** What was tried, and where it would have led if that is known. */
function attempt(cause: unknown, { path }: CallEvent): object {
  return {
    attempted_path: cut((cause instanceof RingfenceError ? cause.path : undefined) ?? path),
    resolved_path: cut(isCode(cause, 'outside_root') ? cause.details.resolved : undefined),
  };
}

function cut(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}

function mapValues(record: Readonly<Record<string, string>>, map: (value: string) => string | undefined): object {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function errnoOf(cause: unknown): string | undefined {
  return isCode(cause, 'io_error') ? cause.details.errno : undefined;
}

/**
 * Where a bug happened: the error's name and stack frames, along its causes. Messages are left out unless they come from
 * the system: those of parsers and of the language itself quote the values they failed on, which may be file content.
 */
export function trace(thrown: unknown, depth = 0): object {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  const frames = thrown.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    name: thrown.name,
    code,
    syscall,
    message: syscall === undefined ? undefined : thrown.message,
    stack: frames.map((line) => line.trim()),
    cause: thrown.cause === undefined || depth > 4 ? undefined : trace(thrown.cause, depth + 1),
  };
}
