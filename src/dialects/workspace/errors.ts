import type { FileErrorDetails } from '../../files/errors.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import { printable } from '../../runtime/printable.ts';
import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type ErrorMap, mapError } from '../../tools/error-map.ts';
import { type CallError, whyNotConfirmed } from '../../tools/errors.ts';
import type { Conflict, ConflictReason } from '../../undo/index.ts';
import { formatSize } from '../../wire/format-size.ts';
import { hintFor } from './hints.ts';

type Messages = ErrorMap<[path: string, call: FailedCall], string>;

/** The message for each code: what happened and what to do next. `formatError` appends the root. */
const MESSAGES: Messages = {
  invalid_argument: ({ details }) => details.problem,
  unknown_root: ({ root, details }) => `unknown root: ${root}; available roots: ${details.known.join(', ')}`,
  tool_not_allowed: ({ root, details }) => `tool ${details.tool} not allowed on root ${root}; list_roots shows what is`,
  invalid_path: ({ details }, path) => `invalid path, refused for security: ${PATH_PROBLEMS[details.problem]}: ${path}`,
  outside_root: (_, path) => `path resolves outside root boundary: ${path}`,
  link_loop: (_, path) => `too many symbolic links, or a circle of them: ${path}`,
  not_found: (error, path, call) => `${missing(error, call)} not found: ${path}`,
  already_exists: (_, path, { tool, args }) => {
    if (tool.name === 'create_folder') return `path exists as a file, not a directory: ${path}`;
    if (args.overwrite === false) return `destination already exists and overwrite is false: ${path}`;
    return `file already exists: ${path}; use overwrite mode to replace`;
  },
  is_directory: (_, path, { tool }) =>
    tool.name === 'hash_file'
      ? `cannot hash a directory: ${path}`
      : `path is a directory: ${path}${INSTEAD[tool.name] ?? ''}`,
  not_directory: (_, path, { tool }) =>
    tool.name === 'remove_folder'
      ? `path is a file, not a directory: ${path}; use remove_file instead`
      : `path is not a directory: ${path}`,
  special_file: (_, path) => `not a regular file: ${path}; pipes, sockets and devices are refused`,
  name_too_long: (_, path) => `file name or path too long: ${path.slice(0, 200)}`,
  too_large: ({ details: { size, limit } }, path, { tool }) =>
    tool.name === 'read_file'
      ? `file too large for full read (size: ${formatSize(size)}, limit: ${formatSize(limit)}); use offset/limit parameters: ${path}`
      : `file too large (size: ${formatSize(size)}, limit: ${formatSize(limit)}): ${path}`,
  permission_denied: (_, path) => `permission denied: ${path}`,
  not_allowed: ({ details }, path) => `not allowed: ${RULES[details.rule]}: ${path}`,
  disk_full: (_, path) => `no space left on device; nothing was written: ${path}`,
  read_only: (_, path) => `read-only file system: ${path}`,
  not_empty: (_, path) => `directory not empty: ${path}`,
  root_itself: ({ details }) => `cannot ${details.action} root directory`,
  same_file: (_, path) => `source and destination are the same: ${path}`,
  into_itself: (_, path) => `cannot put a directory into itself: ${path}`,
  not_text: (_, path) => `file is not UTF-8 text: ${path}`,
  invalid_encoding: ({ details }, path, { args }) =>
    args.encoding === 'base64'
      ? `${details.argument} is not valid base64 (characters A-Z a-z 0-9 + /, padded with =, no white space); nothing was written: ${path || args.path}`
      : `${details.argument} holds an unpaired surrogate, which cannot be written as UTF-8`,
  text_not_found: ({ details }, path, call) =>
    `${editedText(details, call)} not found, file unchanged: ${path}${details.explanation === undefined ? '' : `; ${details.explanation}`}`,
  text_not_unique: ({ details }, path, call) =>
    `${editedText(details, call)} occurs ${details.count} times (at lines ${linesOf(details.lines)}), file unchanged: ${path}; add lines around it to make it unique, or set replace_all`,
  line_out_of_range: ({ details }, path) => `line ${details.line} out of range (0-${details.max}): ${path}`,
  patch_failed: ({ details }, path) => `patch failed: ${details.problem}; file unchanged: ${path}`,
  invalid_pattern: ({ details }) => `invalid pattern: ${details.problem}`,
  changed_meanwhile: (_, path) => `file was changed by someone else meanwhile, try again: ${path}`,
  coordination_unavailable: (_, path) =>
    `the servers that share this file cannot agree on who changes it at present; nothing was changed, try again later: ${path}`,
  lease_lost: (_, path) =>
    `another server has taken over the changes of this file; nothing was changed, try again: ${path}`,
  move_incomplete: ({ details: { destination, destinationRoot, left } }) =>
    `source could not be removed; the destination is complete: ${printable(destination)} (root: ${destinationRoot}); what is left of the source is at: ${printable(left)}`,
  version_mismatch: ({ details }, path) => `${versionMismatch(details)}; nothing was changed: ${path}`,
  result_too_large: ({ details: { size, limit } }) =>
    `result too large (size: ${formatSize(size)}, limit: ${formatSize(limit)}); ask for less`,
  rate_limited: ({ details }) => `rate limit exceeded: retry in ${details.retryAfterSeconds} seconds`,
  too_large_to_keep: ({ details: { size, limit } }, path) =>
    `too large for the history of this root (size: ${formatSize(size)}, limit: ${formatSize(limit)}), so that it may not be replaced or removed; nothing was changed: ${path}`,
  unknown_change: ({ details: { change, expired } }) =>
    expired
      ? `change ${change} is no longer in the history: changes are kept for a limited time only`
      : `no such change: ${change}; list_changes shows those that can be undone`,
  not_own_change: ({ details: { change, anonymous } }) =>
    anonymous
      ? `change ${change} cannot be undone by this client, which cannot be told from others; ask the operator for a token`
      : `change ${change} is not yours, so it cannot be undone; list_changes shows those that can`,
  already_undone: ({ details }) =>
    `change ${details.change} is undone already; to bring it back, undo the change that undid it (list_changes)`,
  undo_conflict: ({ details }) =>
    `cannot be undone, nothing was changed: ${conflictsOf(details.conflicts)}; undo newer changes of yours first, or edit by hand`,
  undo_incomplete: ({ details: { change, paths } }) =>
    `undo failed halfway; not as before are: ${named(paths)}; undo_change ${change} takes that back`,
  no_past_entry: (_, path) => `nothing is known about the past of: ${path}`,
  timed_out: ({ details }, path) => `timed out after ${details.seconds} seconds${path && `: ${path}`}`,
  not_confirmed: ({ details }, path) => `not confirmed: ${whyNotConfirmed(details)}: ${path}`,
  cancelled: () => 'cancelled before it was done',
  exhausted: () => 'server is out of file descriptors or memory; try again later',
  busy: (_, path) => `another process is changing this file or folder, try again: ${path}`,
  io_error: (_, path) => `input/output error: ${path}`,
  path_not_allowed: ({ details }, path) =>
    details.violation === 'not_allowed'
      ? `path is not in an allowed folder (allowed: ${details.allowed.join(', ')}): ${path}`
      : `path resolves outside root boundary (${details.violation}): ${path}`,
  sampling_unsupported: (_, path) =>
    `this client cannot be asked for files (it does not support sampling); hand it over with guide_cache_file or guide_list_directory, or attach it as a resource: ${path}`,
  bad_answer: ({ details }, path) => `the client's answer cannot be used: ${details.problem}: ${path}`,
  unsupported_encoding: ({ details }) => `unsupported encoding: ${details.encoding}`,
  undecodable: ({ details }, path) => `file cannot be decoded as ${details.tried.join(', ')}: ${path}`,
  internal: () => 'internal error; the server log has the details',
};

function versionMismatch({ expected, now }: FileErrorDetails['version_mismatch']): string {
  if (now === undefined) return `if_match ${expected} does not match: there is no such file now`;
  const facts = `version ${now.version}, size ${formatSize(now.size)}, modified ${isoTime(now.mtimeMs)}`;
  // What reads it follows it, and so returns the version of another file.
  if (now.isLink && expected !== 'absent')
    return `if_match ${expected} does not match: it is a symlink, which has a version of its own, as stat_file shows; it is now ${facts}`;
  return expected === 'absent'
    ? `if_match absent does not match: it exists now (${facts})`
    : `if_match ${expected} does not match: it is now ${facts}; read it again`;
}

/** How many paths a message names. */
const MAX_PATHS_NAMED = 10;

const CONFLICTS: Readonly<Record<ConflictReason, string>> = {
  changed_since: 'was changed since',
  missing: 'is not there any more',
  in_the_way: 'exists again',
  no_folder: 'has no folder to go back to',
  not_empty: 'is not empty any more',
  not_kept: 'was too large to be kept',
  kept_is_gone: 'is no longer kept',
  kept_was_changed: 'was changed by another program while it was kept',
  not_allowed: "is not allowed by the operator's rules",
};

function conflictsOf(conflicts: readonly Conflict[]): string {
  const facts = conflicts.slice(0, MAX_PATHS_NAMED).map(({ path, reason, newer }) => {
    return `${printable(path)} ${CONFLICTS[reason]}${newer === undefined ? '' : ` (change ${newer})`}`;
  });
  const more = conflicts.length - facts.length;
  return `${facts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_PATHS_NAMED;
  return `${paths.slice(0, MAX_PATHS_NAMED).map(printable).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** How many line numbers a message names. */
const MAX_LINES_NAMED = 20;

const RULES = {
  deny: "the operator's rules keep this path, or something in it, from being made or moved",
  protect: "the operator's rules protect this path, or something in it, from changes",
  read_only: 'nothing in this root may be changed',
};

const PATH_PROBLEMS = {
  null_byte: 'contains a null byte',
  not_unicode: 'is not valid Unicode',
  reserved: 'this name is reserved for temporary files',
};

const INSTEAD: Readonly<Record<string, string>> = {
  read_file: '; use list_folder instead',
  remove_file: '; use remove_folder instead',
};

/** Formats an error as one line of text that names the caller's path and the root. Never shows a host path. */
export function formatError(error: CallError, call: FailedCall): string {
  const message = mapError(MESSAGES, error, printable(error.path ?? ''), call);
  const root = rootOf(error, call.args);
  const namesRoot = root === undefined || error.code === 'unknown_root' || error.code === 'tool_not_allowed';
  return (namesRoot ? message : `${message} (root: ${root})`) + hintFor(error, call, root);
}

/** Names the text that an edit looked for. */
function editedText({ edit }: { readonly edit?: number }, { args }: FailedCall): string {
  return edit === undefined || !Array.isArray(args.edits) ? 'old_text' : `old_text of edits.${edit - 1}`;
}

function linesOf(lines: readonly number[]): string {
  return `${lines.slice(0, MAX_LINES_NAMED).join(', ')}${lines.length > MAX_LINES_NAMED ? ' and more' : ''}`;
}

/**
 * Formats arguments that do not match a tool's schema as one line of text, with the path and root of the call if it has
 * them.
 */
export function formatProblems(problems: readonly ArgumentProblem[], { args }: FailedCall): string {
  const subject = [
    ['path', args.path ?? args.source_path],
    ['root', args.root ?? args.source_root],
  ] as const;
  const known = subject.flatMap(([name, value]) => (typeof value === 'string' ? [`${name}: ${printable(value)}`] : []));
  const message = problems.map((problem) => problem.message).join('; ');
  return known.length === 0 ? message : `${message} (${known.join(', ')})`;
}

function missing({ path }: CallError, { tool, args }: FailedCall): string {
  if (path !== undefined && path === args.source_path) return 'source file';
  if (tool.name === 'list_folder' || tool.name === 'remove_folder') return 'directory';
  return tool.name === 'grep' || tool.name === 'glob' ? 'path' : 'file';
}

function rootOf({ root, path }: CallError, args: FailedCall['args']): string | undefined {
  if (root !== undefined) return root;
  const name = args.root ?? (path === args.dest_path ? args.dest_root : args.source_root);
  return typeof name === 'string' ? name : undefined;
}
