/** The codes of the contract, and after them what it has no code for. */
export type StorageErrorCode =
  | 'file_not_found'
  | 'file_exists'
  | 'path_security'
  | 'string_not_found'
  | 'string_not_unique'
  | 'binary_file'
  | 'invalid_line_number'
  | 'directory_not_empty'
  | 'permission_denied'
  | 'disk_full'
  | 'invalid_encoding'
  | 'invalid_arguments'
  | 'file_too_large'
  | 'internal_error';

/** What a failed call answers: over MCP as JSON, in a program as an exception. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  /** As the caller gave it. */
  readonly path: string | undefined;

  constructor(
    code: StorageErrorCode,
    message: string,
    { path, cause }: { path?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
    this.path = path;
  }

  toJSON(): { code: StorageErrorCode; message: string; path?: string } {
    return { code: this.code, message: this.message, ...(this.path !== undefined && { path: this.path }) };
  }
}
