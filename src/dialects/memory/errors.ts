import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type ErrorMap, mapError } from '../../tools/error-map.ts';
import { type CallError, whyNotConfirmed } from '../../tools/errors.ts';
import { StorageError, type StorageErrorCode } from './storage-error.ts';

/** The failed call, and the path that the error is about. */
interface ErrorContext extends FailedCall {
  readonly path: string;
}

type CodeAndMessage = readonly [StorageErrorCode, string];
type StorageErrors = ErrorMap<[context: ErrorContext], CodeAndMessage>;

const ESCAPES: CodeAndMessage = ['path_security', 'Path escapes base directory'];

const notFound = ({ path }: ErrorContext): CodeAndMessage => ['file_not_found', `File not found: ${path}`];
const exists = ({ path }: ErrorContext): CodeAndMessage => ['file_exists', `File already exists: ${path}`];
const denied = ({ tool, path }: ErrorContext): CodeAndMessage => [
  'permission_denied',
  // The contract leaves the path out for rename, which has two.
  tool.name === 'rename' ? 'Permission denied' : `Permission denied: ${path}`,
];
const failed = (message: string): CodeAndMessage => ['internal_error', message];

/** The contract's code and message for each error code; the closest one where the contract has none. */
const STORAGE_ERRORS: StorageErrors = {
  not_found: (_, context) => notFound(context),
  already_exists: (_, context) => exists(context),
  same_file: (_, context) => exists(context),
  outside_root: () => ESCAPES,
  root_itself: () => ESCAPES,
  link_loop: () => ESCAPES,
  invalid_path: ({ details }, context) => (details.problem === 'reserved' ? denied(context) : ESCAPES),
  is_directory: (_, context) => (context.tool.name === 'create' ? exists(context) : notFound(context)),
  // When creating, a file is in the way of a folder. When reading, nothing can exist below a file.
  not_directory: (_, context) => (isDestination(context) ? exists(context) : notFound(context)),
  permission_denied: (_, context) => denied(context),
  not_allowed: (_, context) => denied(context),
  read_only: (_, context) => denied(context),
  tool_not_allowed: (_, context) => denied(context),
  special_file: (_, context) => denied(context),
  not_confirmed: ({ details }) => ['permission_denied', `Permission denied: ${whyNotConfirmed(details)}`],
  disk_full: () => ['disk_full', 'Insufficient disk space'],
  not_empty: (_, { path }) => ['directory_not_empty', `Directory not empty: ${path}`],
  not_text: () => ['binary_file', 'Cannot perform text operation on binary file'],
  invalid_encoding: () => ['invalid_encoding', 'Content does not match specified encoding'],
  text_not_found: () => ['string_not_found', 'String not found in file'],
  text_not_unique: ({ details }) => ['string_not_unique', `String appears ${details.count} times, must be unique`],
  // The contract names the line to insert above, from 1; the operation names the line to insert after, from 0.
  line_out_of_range: ({ details: { line, max } }) => [
    'invalid_line_number',
    `Line number ${line + 1} out of range (1-${max + 1})`,
  ],
  invalid_argument: ({ details }) => ['invalid_arguments', details.problem],
  name_too_long: (_, { path }) => ['invalid_arguments', `File name or path too long: ${path.slice(0, 200)}`],
  into_itself: (_, { path }) => ['invalid_arguments', `Cannot move a directory into itself: ${path}`],
  too_large: ({ details }, { path }) => ['file_too_large', `File too large: ${path} (${sizes(details)})`],
  result_too_large: ({ details }, { path }) => ['file_too_large', `Too large to return: ${path} (${sizes(details)})`],
  too_large_to_keep: ({ details }, { path }) => [
    'file_too_large',
    `File too large for the history, so it cannot be changed: ${path} (${sizes(details)})`,
  ],
  changed_meanwhile: (_, { path }) => failed(`File keeps being changed by someone else, try again: ${path}`),
  coordination_unavailable: (_, { path }) =>
    failed(
      `The servers that share this file cannot agree on who changes it at present; nothing was changed, try again later: ${path}`,
    ),
  lease_lost: (_, { path }) =>
    failed(`Another server has taken over the changes of this file; nothing was changed, try again: ${path}`),
  move_incomplete: ({ details: { destination, left } }) =>
    failed(`Source could not be removed; ${destination} is complete, what is left of the source is at ${left}`),
  rate_limited: ({ details }) => failed(`Rate limit exceeded, retry in ${details.retryAfterSeconds} seconds`),
  timed_out: ({ details }) => failed(`Timed out after ${details.seconds} seconds`),
  cancelled: () => failed('Cancelled by the client'),
  busy: (_, { path }) => failed(`Another process is changing this file or folder, try again: ${path}`),
  exhausted: () => failed('Out of file descriptors or memory, try again later'),
  io_error: ({ details }) => failed(`Input/output error${details.errno ? ` (${details.errno})` : ''}`),
  // No tool of this dialect raises these.
  unknown_root: () => failed('Internal error'),
  patch_failed: () => failed('Internal error'),
  version_mismatch: () => failed('Internal error'),
  invalid_pattern: () => failed('Internal error'),
  path_not_allowed: () => failed('Internal error'),
  sampling_unsupported: () => failed('Internal error'),
  bad_answer: () => failed('Internal error'),
  unsupported_encoding: () => failed('Internal error'),
  undecodable: () => failed('Internal error'),
  unknown_change: () => failed('Internal error'),
  not_own_change: () => failed('Internal error'),
  already_undone: () => failed('Internal error'),
  undo_conflict: () => failed('Internal error'),
  undo_incomplete: () => failed('Internal error'),
  no_past_entry: () => failed('Internal error'),
  internal: () => failed('Internal error'),
};

/** Converts an error to the contract's `StorageError`. Shows the caller's path, never a host path. */
export function toStorageError(error: CallError, { tool, args }: FailedCall): StorageError {
  const path = error.path ?? stringIn(args.path) ?? stringIn(args.old_path);
  const [code, message] = mapError(STORAGE_ERRORS, error, { tool, args, path: path ?? '' });
  return new StorageError(code, message, { path, cause: error });
}

/** Converts arguments that do not match a tool's schema to one `invalid_arguments` error. */
export function toArgumentsError(problems: readonly ArgumentProblem[]): StorageError {
  return new StorageError('invalid_arguments', problems.map(({ message }) => message).join('; '));
}

function isDestination({ tool, args, path }: ErrorContext): boolean {
  return tool.name === 'create' || (tool.name === 'rename' && path === args.new_path);
}

function sizes({ size, limit }: { size: number; limit: number }): string {
  return `${size} bytes, limit ${limit} bytes`;
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
