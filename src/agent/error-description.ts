import { printable, shorten } from '../runtime/printable.ts';
import type { AgentErrorCode, AgentErrorDetails, Violation } from './agent-error.ts';
import { HANDOVER_TOOLS } from './handover-tools.ts';

/** The kind of a failure, for programs that decide how to react. */
export type ErrorType = 'security' | 'validation' | 'not_found' | 'permission' | 'timeout' | 'unsupported' | 'system';

/** An error for people and models. */
export interface ErrorDescription {
  readonly errorType: ErrorType;
  readonly message: string;
  /** What to do next. */
  readonly instruction: string;
}

/** A description for every code. A new code breaks the build until it is here. */
type Descriptions = {
  readonly [C in AgentErrorCode]: (details: AgentErrorDetails[C], path: string) => ErrorDescription;
};

const COMMON_ENCODINGS =
  'utf-8, utf-16le, utf-16be, latin1, iso-8859-1 to -16, windows-1250 to -1258, koi8-r, shift_jis, euc-jp, gbk, gb18030, big5, euc-kr, and base64 for bytes';

const DESCRIPTIONS: Descriptions = {
  path_not_allowed: ({ violation, allowed }, path) => security(violation, path, allowed),
  outside_root: (_, path) => security('traversal', path),
  link_loop: (_, path) => security('circle', path),
  invalid_path: (_, path) => security('characters', path),
  invalid_argument: ({ problem }) => validation(problem, 'Correct the argument and call again.'),
  invalid_pattern: ({ problem }) =>
    validation(`Invalid pattern: ${problem}`, 'Use a plain glob such as "*.md" or "**/*.ts".'),
  invalid_encoding: ({ argument }, path) =>
    validation(
      `${argument} does not fit its encoding: it is not valid base64${at(path)}`,
      'Bytes must be base64 in its one proper spelling: padded, on one line, in the standard alphabet. Text must be valid Unicode.',
    ),
  unsupported_encoding: ({ encoding }) =>
    validation(`Unsupported encoding: ${encoding}`, `Supported are ${COMMON_ENCODINGS}.`),
  undecodable: ({ tried }, path) =>
    validation(
      `The content cannot be read as ${tried.join(', nor as ')}${at(path)}`,
      'Name the encoding of the file, or hand it over as base64 and read it as binary.',
    ),
  name_too_long: (_, path) => validation(`Path too long${at(path)}`, 'Use a shorter path.'),
  too_large: ({ size, limit }, path) =>
    validation(
      `Too large: ${size} bytes, the limit is ${limit}${at(path)}`,
      `Hand over less at once: in one call at most 8 MiB of a file (more in chunks with ${HANDOVER_TOOLS.readFile}), and in all no more than the cache holds.`,
    ),
  bad_answer: ({ problem, advice }, path) =>
    validation(
      `The answer cannot be used${path && ` for ${path}`}: ${problem}`,
      advice ?? 'Answer in one of the forms that the request names.',
    ),
  is_directory: (_, path) => validation(`It is a folder, not a file${at(path)}`, 'List the folder instead.'),
  not_directory: (_, path) => validation(`It is a file, not a folder${at(path)}`, 'Read the file instead.'),
  not_found: (_, path) => ({
    errorType: 'not_found',
    message: `File or folder not found${at(path)}`,
    instruction: 'Check the path, for example by listing the folder above it.',
  }),
  permission_denied: (_, path) => ({
    errorType: 'permission',
    message: `Permission denied${at(path)}`,
    instruction: 'Grant access to the file on the side that has it, or use another file.',
  }),
  timed_out: ({ seconds }, path) => ({
    errorType: 'timeout',
    message: `No answer within ${seconds} seconds${at(path)}`,
    instruction: `Try again, or hand the file over with ${HANDOVER_TOOLS.cacheFile} before it is asked for.`,
  }),
  sampling_unsupported: (_, path) => ({
    errorType: 'unsupported',
    message: `This client cannot be asked for files, because it does not support sampling${at(path)}`,
    instruction: `Hand the file over with ${HANDOVER_TOOLS.cacheFile} (or ${HANDOVER_TOOLS.readFile} in chunks), or attach it as a resource.`,
  }),
  cancelled: () => system('Cancelled before it was done', 'Call again if the result is still needed.'),
  exhausted: () => system('Too much is under way at once', 'Try again when earlier requests are answered.'),
  // Operations on client-side files are not known to raise these, except through a custom `Sample`.
  already_exists: () => generic('already_exists'),
  not_allowed: () => generic('not_allowed'),
  special_file: () => generic('special_file'),
  disk_full: () => generic('disk_full'),
  read_only: () => generic('read_only'),
  not_empty: () => generic('not_empty'),
  busy: () => generic('busy'),
  io_error: () => generic('io_error'),
  root_itself: () => generic('root_itself'),
  same_file: () => generic('same_file'),
  into_itself: () => generic('into_itself'),
  not_text: () => generic('not_text'),
  text_not_found: () => generic('text_not_found'),
  version_mismatch: () => generic('version_mismatch'),
  text_not_unique: () => generic('text_not_unique'),
  line_out_of_range: () => generic('line_out_of_range'),
  patch_failed: () => generic('patch_failed'),
  changed_meanwhile: () => generic('changed_meanwhile'),
  coordination_unavailable: () => generic('coordination_unavailable'),
  lease_lost: () => generic('lease_lost'),
  move_incomplete: () => generic('move_incomplete'),
  result_too_large: () => generic('result_too_large'),
  internal: () => generic('internal'),
};

const VIOLATION_NAMES: Readonly<Record<Violation, string>> = {
  traversal: 'traversal',
  absolute: 'absolute path',
  not_allowed: 'not in an allowed folder',
  link: 'link that leaves the allowed folders',
  circle: 'circle of links',
  characters: 'bad characters',
};

const REMEDIES: Readonly<Record<Violation, string>> = {
  traversal: 'Use a path that stays inside the project; ".." must not climb out of it.',
  absolute: 'Use a path relative to the project root, without a drive, a home folder or a URL scheme.',
  not_allowed: 'Use a path inside an allowed folder.',
  link: 'Use the path of a file that itself lies in an allowed folder.',
  circle: 'Use a path without a circle of symbolic links.',
  characters: 'Use a path without control characters and of valid Unicode.',
};

/**
 * Describes a failure. Shows the caller's path, never a host path. A code that is not an `AgentErrorCode`, which a
 * custom `Sample` can raise, gets a generic description.
 */
export function describeError<C extends AgentErrorCode>(
  code: C,
  details: AgentErrorDetails[C],
  path = '',
): ErrorDescription {
  const describe: Descriptions[C] | undefined = DESCRIPTIONS[code];
  return describe?.(details, printable(shorten(path, SHOWN_PATH))) ?? generic(code);
}

function at(path: string): string {
  return path && `: ${path}`;
}

function security(violation: Violation, path: string, allowed: readonly string[] = []): ErrorDescription {
  const folders = allowed.length === 0 ? '' : ` Allowed folders: ${allowed.join(', ')}.`;
  return {
    errorType: 'security',
    message: `Path refused (${VIOLATION_NAMES[violation]})${at(path)}`,
    instruction: REMEDIES[violation] + folders,
  };
}

function validation(message: string, instruction: string): ErrorDescription {
  return { errorType: 'validation', message, instruction };
}

function system(message: string, instruction: string): ErrorDescription {
  return { errorType: 'system', message, instruction };
}

function generic(code: string): ErrorDescription {
  return system(`Failed: ${code.replaceAll('_', ' ')}`, 'Try again later.');
}

/** How much of a path a message shows. */
const SHOWN_PATH = 200;
