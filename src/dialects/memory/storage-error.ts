/** The error codes of the contract, followed by those for failures that the contract does not mention. */
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

/** The error of a failed call. MCP clients get it as JSON, users of `FileStorage` as an exception. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  /** The path as the caller gave it. */
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

  /** Returns the form that MCP clients see. Leaves out the cause. */
  toJSON(): { code: StorageErrorCode; message: string; path?: string } {
    return { code: this.code, message: this.message, ...(this.path !== undefined && { path: this.path }) };
  }
}
