import { type ErrorMap, mapError } from '../../tools/error-map.ts';
import type { CallError } from '../../tools/errors.ts';
import { formatSize } from '../../wire/format-size.ts';
import type { CommandName } from './commands.ts';
import { isBelowMemoryRoot, MEMORY_ROOT } from './memory-path.ts';

/** The failed command, and the path that the error is about. */
interface ErrorContext {
  readonly command: CommandName;
  readonly input: Readonly<Record<string, unknown>>;
  readonly path: string;
}

type Messages = ErrorMap<[context: ErrorContext], string>;

const PLEASE = 'Please provide a valid path.';

/** The message for a missing path, which the documentation defines differently for each command. */
const MISSING: Readonly<Record<CommandName, (path: string) => string>> = {
  view: (path) => `The path ${path} does not exist. ${PLEASE}`,
  create: (path) => `Error: The path ${path} does not exist`,
  str_replace: (path) => `Error: The path ${path} does not exist. ${PLEASE}`,
  insert: (path) => `Error: The path ${path} does not exist`,
  delete: (path) => `Error: The path ${path} does not exist`,
  rename: (path) => `Error: The path ${path} does not exist`,
};

const missing = ({ command, path }: ErrorContext): string => MISSING[command](path);
const taken = ({ command, path }: ErrorContext): string =>
  command === 'rename' ? `Error: The destination ${path} already exists` : `Error: File ${path} already exists`;
const escapes = ({ path }: ErrorContext): string =>
  isBelowMemoryRoot(path)
    ? `Error: Path ${path} would escape ${MEMORY_ROOT} directory`
    : `Error: Path must start with ${MEMORY_ROOT}, got: ${path}`;

const MESSAGES: Messages = {
  not_found: (_, context) => missing(context),
  // By the documentation, str_replace and insert report a folder as a missing path.
  is_directory: (_, context) => (context.command === 'create' ? taken(context) : missing(context)),
  not_directory: (_, context) => (isDestination(context) ? taken(context) : missing(context)),
  already_exists: (_, context) => taken(context),
  same_file: (_, context) => taken(context),
  text_not_found: (_, { path, input }) =>
    `No replacement was performed, old_str \`${input.old_str}\` did not appear verbatim in ${path}.`,
  text_not_unique: ({ details }, { input }) =>
    `No replacement was performed. Multiple occurrences of old_str \`${input.old_str}\` in lines: ${details.lines.join(', ')}. Please ensure it is unique`,
  line_out_of_range: ({ details }) =>
    `Error: Invalid \`insert_line\` parameter: ${details.line}. It should be within the range of lines of the file: [0, ${details.max}]`,
  outside_root: (_, context) => escapes(context),
  root_itself: ({ details }) => `Error: Cannot ${details.action} the ${MEMORY_ROOT} directory itself`,
  link_loop: (_, { path }) => `Error: Too many symbolic links, or a circle of them: ${path}`,
  invalid_path: (_, { path }) => `Error: Invalid path: ${JSON.stringify(path)}`,
  into_itself: (_, { path }) => `Error: Cannot move a directory into itself: ${path}`,
  permission_denied: (_, { path }) => `Error: Permission denied: ${path}`,
  not_allowed: (_, { path }) => `Error: Not allowed: ${path}`,
  read_only: (_, { path }) => `Error: Permission denied: ${path}`,
  tool_not_allowed: (_, { path }) => `Error: Permission denied: ${path}`,
  special_file: (_, { path }) => `Error: The path ${path} is not a regular file`,
  not_text: (_, { path }) => `Error: The file ${path} is not UTF-8 text`,
  invalid_encoding: () => 'Error: The text holds an unpaired surrogate, which cannot be written as UTF-8',
  name_too_long: (_, { path }) => `Error: File name or path too long: ${path.slice(0, 200)}`,
  too_large: ({ details: { size, limit } }, { path }) =>
    `Error: The file ${path} is too large (${formatSize(size, 'short')}, limit ${formatSize(limit, 'short')})`,
  too_large_to_keep: ({ details: { size, limit } }, { path }) =>
    `Error: The file ${path} is too large for the history (${formatSize(size, 'short')}, limit ${formatSize(limit, 'short')}), so it cannot be changed`,
  result_too_large: ({ details: { size, limit } }, { path }) =>
    `Error: Too much to show at once of ${path} (${formatSize(size, 'short')}, limit ${formatSize(limit, 'short')}). Use \`view_range\``,
  not_empty: (_, { path }) => `Error: Directory not empty: ${path}`,
  disk_full: () => 'Error: No space left on device',
  changed_meanwhile: (_, { path }) => `Error: The file ${path} keeps being changed by someone else, try again`,
  coordination_unavailable: (_, { path }) =>
    `Error: The servers that share ${path} cannot agree on who changes it at present; nothing was changed, try again later`,
  lease_lost: (_, { path }) =>
    `Error: Another server has taken over the changes of ${path}; nothing was changed, try again`,
  move_incomplete: ({ details: { destination, left } }) =>
    `Error: The source could not be removed. ${destination} is complete, what is left of the source is at ${left}`,
  busy: (_, { path }) => `Error: Another process is changing the directory of ${path}, try again`,
  exhausted: () => 'Error: Out of file descriptors or memory, try again later',
  invalid_argument: ({ details }) => `Error: ${details.problem}`,
  io_error: ({ details }) => `Error: Input/output error${details.errno ? ` (${details.errno})` : ''}`,
  rate_limited: ({ details }) => `Error: Rate limit exceeded, retry in ${details.retryAfterSeconds} seconds`,
  timed_out: ({ details }) => `Error: Timed out after ${details.seconds} seconds`,
  cancelled: () => 'Error: Cancelled',
  // No command raises these.
  unknown_root: () => 'Error: Internal error',
  patch_failed: () => 'Error: Internal error',
  version_mismatch: () => 'Error: Internal error',
  not_confirmed: () => 'Error: Internal error',
  invalid_pattern: () => 'Error: Internal error',
  path_not_allowed: () => 'Error: Internal error',
  sampling_unsupported: () => 'Error: Internal error',
  bad_answer: () => 'Error: Internal error',
  unsupported_encoding: () => 'Error: Internal error',
  undecodable: () => 'Error: Internal error',
  unknown_change: () => 'Error: Internal error',
  not_own_change: () => 'Error: Internal error',
  already_undone: () => 'Error: Internal error',
  undo_conflict: () => 'Error: Internal error',
  undo_incomplete: () => 'Error: Internal error',
  no_past_entry: () => 'Error: Internal error',
  internal: () => 'Error: Internal error',
};

/** Formats an error as the documented text, or in the same style where none is documented. Never shows a host path. */
export function formatError(error: CallError, command: CommandName, input: ErrorContext['input']): string {
  const path = error.path ?? String(input.path ?? input.old_path);
  return mapError(MESSAGES, error, { command, input, path });
}

function isDestination({ command, input, path }: ErrorContext): boolean {
  return command === 'create' || (command === 'rename' && path === input.new_path);
}
