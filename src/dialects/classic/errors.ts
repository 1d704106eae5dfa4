import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type ErrorMap, mapError } from '../../tools/error-map.ts';
import { type CallError, whyNotConfirmed } from '../../tools/errors.ts';
import { isAbsolute } from '../../tools/relative-path.ts';

/** The `error` object that a client sees. */
interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The specific cause, where the contract fixes a generic message. */
  readonly reason?: string | undefined;
}

type ErrorBodies = ErrorMap<[call: FailedCall], ErrorBody>;

const OUTSIDE = { code: 'path_validation_error', message: 'Path is outside of the allowed root directory' };
const DENIED = { code: 'permission_denied', message: 'Permission denied to access the specified path' };
const INTERNAL = { code: 'internal_error', message: 'Internal error; the server log has the details' };

const ERROR_BODIES: ErrorBodies = {
  invalid_argument: ({ details }) => invalid(details.problem),
  invalid_encoding: ({ details }, { args }) =>
    invalid(
      args.encoding === 'base64'
        ? `${details.argument} is not valid base64`
        : `${details.argument} holds an unpaired surrogate, which cannot be written as UTF-8`,
    ),
  invalid_pattern: ({ details }) => invalid(`pattern is not valid: ${details.problem}`),
  root_itself: (_, { tool }) =>
    invalid(`${tool.name === 'move' ? 'source' : 'path'} must not be the root directory itself`),
  same_file: () => invalid('source and destination are the same'),
  into_itself: () => invalid('destination must not lie inside source'),

  outside_root: ({ path }) => ({ ...OUTSIDE, reason: path !== undefined && isAbsolute(path) ? ABSOLUTE : undefined }),
  invalid_path: ({ details }) => ({ ...OUTSIDE, reason: PATH_PROBLEMS[details.problem] }),
  link_loop: () => ({ ...OUTSIDE, reason: 'too many symbolic links, or a circle of them' }),
  name_too_long: () => ({ ...OUTSIDE, reason: 'the path or a name in it is too long' }),

  permission_denied: () => DENIED,
  read_only: () => ({ ...DENIED, reason: 'the filesystem is read-only' }),
  not_allowed: ({ details }) => ({ ...DENIED, reason: RULES[details.rule] }),
  tool_not_allowed: ({ details }) => ({ ...DENIED, reason: `the server does not allow ${details.tool} here` }),
  not_confirmed: ({ details }) => ({ ...DENIED, reason: whyNotConfirmed(details) }),

  not_found: () => ({ code: 'not_found', message: 'The specified path does not exist' }),
  already_exists: () => ({
    code: 'already_exists',
    message: 'The file already exists and overwrite is not enabled',
  }),
  is_directory: ({ path }, { tool, args }) =>
    tool.name === 'copy' && path === args.source
      ? invalid('recursive must be true to copy a directory')
      : { code: 'is_directory', message: 'The specified path is a directory' },
  not_directory: () => ({
    code: 'not_a_directory',
    message: 'The specified path, or a part of it, is not a directory',
  }),
  not_empty: (_, { tool }) => ({
    code: 'directory_not_empty',
    message: `The directory is not empty${tool.name === 'delete' ? '; set recursive to delete it with all in it' : ''}`,
  }),
  special_file: () => ({ code: 'not_a_file', message: 'Pipes, sockets and devices are not accessible' }),
  too_large: ({ details: { size, limit } }) => ({
    code: 'file_too_large',
    message: `The file is too large: ${size} bytes, the limit is ${limit}`,
  }),
  too_large_to_keep: ({ details: { size, limit } }) => ({
    code: 'file_too_large',
    message: `The file is too large for the history, so it cannot be changed: ${size} bytes, the limit is ${limit}`,
  }),
  result_too_large: ({ details: { size, limit } }) => ({
    code: 'result_too_large',
    message: `The result is too large: ${size} bytes, the limit is ${limit}; ask for less`,
  }),
  disk_full: () => ({ code: 'disk_full', message: 'No space left on the device; nothing was written' }),
  changed_meanwhile: () => ({ code: 'conflict', message: 'The file was changed by someone else meanwhile; try again' }),
  coordination_unavailable: () => ({
    code: 'server_busy',
    message:
      'The servers that share this file cannot agree on who changes it at present; nothing was changed, try again later',
  }),
  lease_lost: () => ({
    code: 'conflict',
    message: 'Another server has taken over the changes of this file; nothing was changed, try again',
  }),
  move_incomplete: ({ details: { destination, left } }) => ({
    code: 'io_error',
    message: `The source could not be removed; the destination ${destination} is complete, what is left of the source is at ${left}`,
  }),
  rate_limited: ({ details }) => ({
    code: 'rate_limited',
    message: `Rate limit exceeded; retry in ${details.retryAfterSeconds} seconds`,
  }),
  timed_out: ({ details }) => ({
    code: 'timeout',
    message: `The operation timed out after ${details.seconds} seconds`,
  }),
  cancelled: () => ({ code: 'cancelled', message: 'The operation was cancelled' }),
  exhausted: () => ({
    code: 'server_busy',
    message: 'The server is out of file descriptors or memory; try again later',
  }),
  busy: () => ({ code: 'conflict', message: 'Another process is changing this file or folder; try again' }),
  io_error: ({ details }) => ({
    code: 'io_error',
    message: `Input/output error${details.errno === undefined ? '' : ` (${details.errno})`}`,
  }),

  internal: () => INTERNAL,
  // No tool of this dialect raises these: none takes a root name or a version, edits text, applies patches or uses
  // client-side files.
  unknown_root: () => INTERNAL,
  not_text: () => INTERNAL,
  text_not_found: () => INTERNAL,
  text_not_unique: () => INTERNAL,
  line_out_of_range: () => INTERNAL,
  patch_failed: () => INTERNAL,
  version_mismatch: () => INTERNAL,
  path_not_allowed: () => INTERNAL,
  sampling_unsupported: () => INTERNAL,
  bad_answer: () => INTERNAL,
  unsupported_encoding: () => INTERNAL,
  undecodable: () => INTERNAL,
  unknown_change: () => INTERNAL,
  not_own_change: () => INTERNAL,
  already_undone: () => INTERNAL,
  undo_conflict: () => INTERNAL,
  undo_incomplete: () => INTERNAL,
  no_past_entry: () => INTERNAL,
};

const ABSOLUTE = 'absolute paths are not accepted; give the path relative to the root';

const RULES = {
  deny: "the operator's rules do not allow this path here, or something in it",
  protect: "the operator's rules protect this path, or something in it, from changes",
  read_only: 'nothing in this root may be changed',
};

const PATH_PROBLEMS = {
  null_byte: 'the path contains a null byte',
  not_unicode: 'the path is not valid Unicode',
  reserved: 'the name is reserved for temporary files',
};

/** Formats an error as the JSON text that the contract defines. Shows the caller's path, never a host path. */
export function formatError(error: CallError, call: FailedCall): string {
  return toText(mapError(ERROR_BODIES, error, call), call, error.path);
}

/** Formats arguments that do not match a tool's schema as one `invalid_parameters` error. */
export function formatProblems(problems: readonly ArgumentProblem[], call: FailedCall): string {
  return toText(invalid(problems.map(({ message }) => message).join('; ')), call);
}

function invalid(message: string): ErrorBody {
  return { code: 'invalid_parameters', message };
}

function toText({ code, message, reason }: ErrorBody, { tool, args }: FailedCall, at?: string): string {
  const path =
    at ?? ['path', 'source', 'root_path'].map((name) => args[name]).find((value) => typeof value === 'string');
  return JSON.stringify({ error: { code, message, details: { path: path ?? '', operation: tool.name, reason } } });
}
