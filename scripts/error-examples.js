// @ts-check
// One example of every code that a call can fail with, and what to say about it: for the reference of errors and for tests.

/** What no client may see. */
export const HOST = '/srv/host/secret';

/** @typedef {import('../src/tools/errors.ts').ErrorCode} ErrorCode */
/** @typedef {import('../src/tools/errors.ts').ErrorDetails} ErrorDetails */

/**
 * What a code carries, what it means, and what an agent or its operator can do about it.
 * @template {ErrorCode} C
 * @typedef {{ readonly details: ErrorDetails[C]; readonly means: string; readonly todo: string }} ErrorExample
 */

/**
 * Each code with all it can know, host paths and system errors included. A new code does not compile until it is here.
 * @type {{ readonly [C in ErrorCode]: ErrorExample<C> }}
 */
export const ERROR_EXAMPLES = {
  invalid_argument: {
    details: { problem: 'offset_bytes and offset_lines cannot both be given', argument: 'offset_bytes' },
    means: 'An argument has a wrong type or value, is missing or unknown.',
    todo: 'Correct the argument that the message names, and call again.',
  },
  unknown_root: {
    details: { known: ['reference', 'logs'] },
    means: 'There is no root of this name, or not for this token.',
    todo: 'Use one of the roots that the message or `list_roots` names.',
  },
  tool_not_allowed: {
    details: { tool: 'write_file' },
    means: 'The root, or the token, does not allow this tool.',
    todo: 'Use another root or tool. The operator decides, with `allowed_tools`, `read_only` and the `tools` of a token.',
  },
  invalid_path: {
    details: { problem: 'null_byte' },
    means: 'The path holds a null byte, is not valid Unicode, or has a name that is reserved for temporary files.',
    todo: 'Use another path.',
  },
  outside_root: {
    details: { resolved: HOST },
    means: 'The path, or a link in it, leads out of the root.',
    todo: 'Use a path inside the root. To let agents use that place, the operator makes it a root of its own. The log has the attempt.',
  },
  link_loop: {
    details: {},
    means: 'The path goes through more than 40 links, or through a circle of them.',
    todo: 'Use the path of the file itself, or repair the links.',
  },
  not_found: {
    details: {},
    means: 'The entry, or a folder in its path, does not exist. What the operator denies does not exist either.',
    todo: 'Check the path; the workspace dialect names a similar one if there is one. `glob` finds by name.',
  },
  already_exists: {
    details: {},
    means: 'The entry to make exists already.',
    todo: 'Choose another name, or allow it to be replaced.',
  },
  is_directory: { details: {}, means: 'A file was expected, and this is a folder.', todo: 'Use the tool for folders.' },
  not_directory: {
    details: {},
    means: 'A folder was expected, at the end of the path or before it, and this is something else.',
    todo: 'Use the tool for files, or correct the path.',
  },
  special_file: {
    details: {},
    means: 'The entry is a pipe, a socket or a device.',
    todo: 'Use another file: these are refused, because reading one could hang.',
  },
  name_too_long: {
    details: {},
    means: 'A name, or the path, is longer than the file system allows.',
    todo: 'Use a shorter one.',
  },
  too_large: {
    details: { size: 5_452_595, limit: 1_048_576 },
    means: 'The file is larger than what is read or edited as a whole.',
    todo: 'Read it in parts. The operator sets the limit, with `max_full_read_size`.',
  },
  permission_denied: {
    details: {},
    means: 'The operating system does not let the server do this.',
    todo: 'Use another file. The operator gives the user of the server the rights, or leaves it so.',
  },
  not_allowed: {
    details: { rule: 'protect', pattern: HOST },
    means: "The operator's rules keep this path, or something in it, as it is.",
    todo: 'Do without the change. The log line names the rule and its pattern.',
  },
  disk_full: {
    details: {},
    means: 'The disk or the quota is full, or the file would be too large for the file system. Nothing was written.',
    todo: 'Make room. With a history, removing files makes none until they are no longer kept.',
  },
  read_only: {
    details: {},
    means: 'The file system is mounted read-only.',
    todo: 'Use another root.',
  },
  not_empty: {
    details: {},
    means: 'The folder to remove or replace is not empty.',
    todo: 'Remove it with what is in it, if that is meant.',
  },
  root_itself: {
    details: { action: 'remove' },
    means: 'The root itself cannot be moved or removed.',
    todo: 'Name an entry in it.',
  },
  same_file: { details: {}, means: 'Source and destination are the same.', todo: 'Name another destination.' },
  into_itself: {
    details: {},
    means: 'A folder cannot be copied or moved into itself.',
    todo: 'Name another destination.',
  },
  not_text: {
    details: {},
    means: 'The file is not UTF-8 text, so it cannot be edited as text.',
    todo: 'Write it whole, as base64.',
  },
  invalid_encoding: {
    details: { argument: 'content' },
    means: 'An argument is not valid in its encoding.',
    todo: 'Send valid base64 or valid Unicode.',
  },
  text_not_found: {
    details: {},
    means: 'The text to replace does not occur in the file.',
    todo: 'Read the file again; the message shows the nearest passage and what differs. Line numbers are not part of the text.',
  },
  text_not_unique: {
    details: { count: 2, lines: [1, 2] },
    means: 'The text to replace occurs more than once.',
    todo: 'Add lines around it, or replace all.',
  },
  line_out_of_range: {
    details: { line: 9, max: 3 },
    means: 'The file has no such line.',
    todo: 'Use a line that it has.',
  },
  patch_failed: {
    details: { problem: 'hunk 1 does not match at line 42', hunk: 1, line: 42 },
    means: 'The diff is malformed or does not match the file, which stays as it was.',
    todo: 'Read the lines that the message names, and make the diff anew; or use `edit_file`.',
  },
  invalid_pattern: {
    details: { problem: 'missing closing ]' },
    means: 'The regular expression or glob cannot be compiled.',
    todo: 'Correct it. The syntax is that of RE2, without look-around and back-references.',
  },
  changed_meanwhile: {
    details: {},
    means: 'Another process or call changed the file while this one ran. Nothing was changed.',
    todo: 'Try again.',
  },
  coordination_unavailable: {
    details: {},
    means:
      'The servers that share the file cannot agree on who changes it, because Redis cannot be reached. Nothing was changed.',
    todo: 'Try again later. The operator looks at `/ready`, which names what is missing.',
  },
  lease_lost: {
    details: {},
    means: 'Another server has taken over the right to change the file. Nothing was changed.',
    todo: 'Try again.',
  },
  move_incomplete: {
    details: { destination: 'b', destinationRoot: 'other', left: 'a' },
    means: 'A move to another file system has made the copy, and could neither remove the source nor undo the copy.',
    todo: 'Remove what is left of the source, which the message names, once it can be.',
  },
  version_mismatch: {
    details: { expected: 'old', now: { version: 'new', size: 3, mtimeMs: 0, isLink: false } },
    means: 'The file is not the one that `if_match` names. Nothing was changed.',
    todo: 'Read it again, and decide anew.',
  },
  result_too_large: {
    details: { size: 20_000_000, limit: 8_388_608 },
    means: 'The result would be larger than a message may be.',
    todo: 'Ask for less.',
  },
  too_large_to_keep: {
    details: { size: 5_452_595, limit: 1_048_576 },
    means: 'The history may not keep a file of this size, and the operator wants such files to stay (`over: refuse`).',
    todo: 'Leave it. The operator raises `max_bytes`, or sets `over: allow`.',
  },
  unknown_change: {
    details: { change: 'mk3x9a', expired: false },
    means: 'The history has no such change, or no longer.',
    todo: 'List the changes.',
  },
  not_own_change: {
    details: { change: 'mk3x9a', anonymous: false },
    means: 'The change is that of another client.',
    todo: 'Leave it, or ask the operator: a token with `undo: all` may undo those of everybody.',
  },
  already_undone: {
    details: { change: 'mk3x9a' },
    means: 'The change was taken back before.',
    todo: 'To bring it back, undo the change that undid it.',
  },
  undo_conflict: {
    details: { conflicts: [{ reason: 'changed_since', path: 'src/main.go', change: 'mk3x9a', newer: 'mk3x9b' }] },
    means: 'Newer work is in the way of the undo. Nothing was done.',
    todo: 'Undo the newer changes first, or edit by hand. The operator can go ahead with `ringfence undo --force`.',
  },
  undo_incomplete: {
    details: { change: 'mk3x9c', paths: ['src/main.go'] },
    means: 'An undo failed in its middle, and not all that it had done could be taken back.',
    todo: 'Look at the paths that the message names; undo the change that it names.',
  },
  no_past_entry: {
    details: {},
    means: 'Nothing is known about the path at that time.',
    todo: 'Name another path or time.',
  },
  rate_limited: {
    details: { retryAfterSeconds: 0.5 },
    means: 'The client calls more often than it may.',
    todo: 'Wait as long as the message says. The operator sets `rate_limit`.',
  },
  timed_out: {
    details: { seconds: 30 },
    means: 'The call took longer than `request_timeout`, or the client did not answer in time.',
    todo: 'Ask for less, or let the operator raise it.',
  },
  not_confirmed: {
    details: { reason: 'unanswered', seconds: 60 },
    means: 'A person has to agree first, and did not. Nothing was changed.',
    todo: 'Do without it, or ask the person. If the client cannot ask, the operator changes `confirm`.',
  },
  cancelled: { details: {}, means: 'The client took the call back.', todo: 'Nothing.' },
  exhausted: {
    details: {},
    means: 'The server has no file descriptors or memory left.',
    todo: 'Try again later. The operator raises `ulimit -n` or `limits.memory`.',
  },
  busy: {
    details: {},
    means: 'Another process is changing the file or folder, and did not finish in time. Nothing was changed.',
    todo: 'Try again.',
  },
  io_error: {
    details: { errno: 'EIO' },
    means: 'The operating system reports an error of another kind.',
    todo: 'The operator finds it in the log, and looks at the disk.',
  },
  path_not_allowed: {
    details: { violation: 'not_allowed', allowed: ['docs', 'src'] },
    means: "The policy for files of the client's side refuses the path.",
    todo: 'Use a path in an allowed folder.',
  },
  sampling_unsupported: {
    details: {},
    means: 'The client cannot be asked for files, because it does not support sampling.',
    todo: 'Hand the file over with `guide_cache_file`, or attach it as a resource.',
  },
  bad_answer: {
    details: { problem: 'it was cut off' },
    means: "The client's answer to a request for a file cannot be used.",
    todo: 'Answer in one of the forms that the request names.',
  },
  unsupported_encoding: {
    details: { encoding: 'klingon' },
    means: 'The encoding is not known.',
    todo: 'Use one that the message names.',
  },
  undecodable: {
    details: { tried: ['utf-8'] },
    means: 'The content cannot be read in the encoding.',
    todo: 'Name the right encoding, or read it as binary.',
  },
  internal: {
    details: {},
    means: 'A bug. The log has the cause and its stack.',
    todo: 'Report it, with the log line.',
  },
};
