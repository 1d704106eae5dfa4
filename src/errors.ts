/**
 * What each code knows about its failure, beyond the path and root that any error may carry.
 * `resolved` and `errno` are for the audit log: no dialect may show them to a client.
 */
export interface ErrorDetails {
  invalid_argument: { problem: string; argument?: string };
  unknown_root: { known: readonly string[] };
  tool_not_allowed: { tool: string };
  invalid_path: { problem: 'null_byte' | 'not_unicode' | 'reserved' };
  outside_root: { resolved?: string };
  link_loop: object;
  not_found: object;
  already_exists: object;
  is_directory: object;
  not_directory: object;
  special_file: object;
  name_too_long: object;
  too_large: { size: number; limit: number };
  permission_denied: object;
  disk_full: object;
  read_only: object;
  not_empty: object;
  root_itself: { action: string };
  same_file: object;
  into_itself: object;
  not_text: object;
  invalid_encoding: { argument: string };
  text_not_found: object;
  text_not_unique: { count: number; lines: readonly number[] };
  line_out_of_range: { line: number; max: number };
  patch_failed: { problem: string; hunk?: number; line?: number };
  invalid_pattern: { problem: string };
  changed_meanwhile: object;
  result_too_large: { size: number; limit: number };
  timed_out: { seconds: number };
  cancelled: object;
  exhausted: object;
  io_error: { errno?: string };
  path_not_allowed: { violation: Violation; allowed: readonly string[] };
  sampling_unsupported: object;
  bad_answer: { problem: string; advice?: string };
  unsupported_encoding: { encoding: string };
  undecodable: { tried: readonly string[] };
  internal: object;
}

/** What is wrong with a path that a policy refuses. */
export type Violation = 'traversal' | 'absolute' | 'not_allowed' | 'link' | 'circle' | 'characters';

/** The closed list of failures. A dialect answers every one of them. */
export type ErrorCode = keyof ErrorDetails;

interface Where {
  /** The path as the caller gave it. */
  path?: string | undefined;
  /** The name of the root, never its host path. */
  root?: string | undefined;
  cause?: unknown;
}

/** The one error class. Its message is for logs; dialects word their own from `code` and `details`. */
export class RingfenceError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly details: ErrorDetails[C];
  path: string | undefined;
  root: string | undefined;

  constructor(code: C, details: ErrorDetails[C], where: Where = {}) {
    super(code, where.cause === undefined ? undefined : { cause: where.cause });
    this.name = 'RingfenceError';
    this.code = code;
    this.details = details;
    this.path = where.path;
    this.root = where.root;
  }

  /** Adds where it happened, unless something closer to the failure already said so. */
  locate(path: string | undefined, root?: string): this {
    this.path ??= path;
    this.root ??= root;
    return this;
  }
}

export function isCode<C extends ErrorCode>(error: unknown, ...codes: C[]): error is RingfenceError<C> {
  return error instanceof RingfenceError && (codes as ErrorCode[]).includes(error.code);
}
