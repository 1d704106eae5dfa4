import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type ErrorMap, mapError } from '../../tools/error-map.ts';
import type { CallError } from '../../tools/errors.ts';
import { StorageError, type StorageErrorCode } from './storage-error.ts';

interface Place extends FailedCall {
  readonly path: string;
}

type Answer = readonly [StorageErrorCode, string];
type Answers = ErrorMap<[place: Place], Answer>;

const ESCAPES: Answer = ['path_security', 'Path escapes base directory'];

const notFound = ({ path }: Place): Answer => ['file_not_found', `File not found: ${path}`];
const exists = ({ path }: Place): Answer => ['file_exists', `File already exists: ${path}`];
const denied = ({ tool, path }: Place): Answer => [
  'permission_denied',
  // The contract words it without the path where there are two of them.
  tool.name === 'rename' ? 'Permission denied' : `Permission denied: ${path}`,
];
const failed = (message: string): Answer => ['internal_error', message];

/** The contract's code and message for each of ours; the nearest where the contract has none. */
const ANSWERS: Answers = {
  not_found: (_, place) => notFound(place),
  already_exists: (_, place) => exists(place),
  same_file: (_, place) => exists(place),
  outside_root: () => ESCAPES,
  root_itself: () => ESCAPES,
  link_loop: () => ESCAPES,
  invalid_path: ({ details }, place) => (details.problem === 'reserved' ? denied(place) : ESCAPES),
  is_directory: (_, place) => (place.tool.name === 'create' ? exists(place) : notFound(place)),
  // A file stands where a folder would have to be made; for reading, nothing can be below a file.
  not_directory: (_, place) => (isDestination(place) ? exists(place) : notFound(place)),
  permission_denied: (_, place) => denied(place),
  read_only: (_, place) => denied(place),
  tool_not_allowed: (_, place) => denied(place),
  special_file: (_, place) => denied(place),
  disk_full: () => ['disk_full', 'Insufficient disk space'],
  not_empty: (_, { path }) => ['directory_not_empty', `Directory not empty: ${path}`],
  not_text: () => ['binary_file', 'Cannot perform text operation on binary file'],
  invalid_encoding: () => ['invalid_encoding', 'Content does not match specified encoding'],
  text_not_found: () => ['string_not_found', 'String not found in file'],
  text_not_unique: ({ details }) => ['string_not_unique', `String appears ${details.count} times, must be unique`],
  // The contract counts from 1 the line that the text goes above, the operation from 0 the one it goes below.
  line_out_of_range: ({ details: { line, max } }) => [
    'invalid_line_number',
    `Line number ${line + 1} out of range (1-${max + 1})`,
  ],
  invalid_argument: ({ details }) => ['invalid_arguments', details.problem],
  name_too_long: (_, { path }) => ['invalid_arguments', `File name or path too long: ${path.slice(0, 200)}`],
  into_itself: (_, { path }) => ['invalid_arguments', `Cannot move a directory into itself: ${path}`],
  too_large: ({ details }, { path }) => ['file_too_large', `File too large: ${path} (${sizes(details)})`],
  result_too_large: ({ details }, { path }) => ['file_too_large', `Too large to return: ${path} (${sizes(details)})`],
  changed_meanwhile: (_, { path }) => failed(`File keeps being changed by someone else, try again: ${path}`),
  timed_out: ({ details }) => failed(`Timed out after ${details.seconds} seconds`),
  cancelled: () => failed('Cancelled by the client'),
  exhausted: () => failed('Out of file descriptors or memory, try again later'),
  io_error: ({ details }) => failed(`Input/output error${details.errno ? ` (${details.errno})` : ''}`),
  // None of the tools here can raise these.
  unknown_root: () => failed('Internal error'),
  patch_failed: () => failed('Internal error'),
  invalid_pattern: () => failed('Internal error'),
  path_not_allowed: () => failed('Internal error'),
  sampling_unsupported: () => failed('Internal error'),
  bad_answer: () => failed('Internal error'),
  unsupported_encoding: () => failed('Internal error'),
  undecodable: () => failed('Internal error'),
  internal: () => failed('Internal error'),
};

/** An error as the contract has it. Shows the caller's path, never one of the host. */
export function toStorageError(error: CallError, { tool, args }: FailedCall): StorageError {
  const path = error.path ?? stringIn(args.path) ?? stringIn(args.old_path);
  const [code, message] = mapError(ANSWERS, error, { tool, args, path: path ?? '' });
  return new StorageError(code, message, { path, cause: error });
}

export function toArgumentsError(problems: readonly ArgumentProblem[]): StorageError {
  return new StorageError('invalid_arguments', problems.map(({ message }) => message).join('; '));
}

function isDestination({ tool, args, path }: Place): boolean {
  return tool.name === 'create' || (tool.name === 'rename' && path === args.new_path);
}

function sizes({ size, limit }: { size: number; limit: number }): string {
  return `${size} bytes, limit ${limit} bytes`;
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
