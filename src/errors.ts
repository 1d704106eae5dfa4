export interface ErrorLocation {
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  /** The name of the root, never its host path. */
  readonly root?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The base of every expected failure. Each part of the program has a subclass with a closed list of codes, `Details` says what
 * each of them carries. The message is for logs; dialects word their own from `code` and `details`.
 */
export abstract class RingfenceError<
  Details extends object = Record<string, object>,
  Code extends keyof Details & string = keyof Details & string,
> extends Error {
  readonly code: Code;
  readonly details: Details[Code];
  path: string | undefined;
  root: string | undefined;

  constructor(code: Code, details: Details[Code], { path, root, cause }: ErrorLocation = {}) {
    super(code, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.details = details;
    this.path = path;
    this.root = root;
  }

  /** Adds where the error happened, unless something closer to the failure already did. */
  locate(path: string | undefined, root?: string): this {
    this.path ??= path;
    this.root ??= root;
    return this;
  }
}

/** Tests whether an error has one of some codes. */
export type CodeGuard<Details extends object> = <Code extends keyof Details & string>(
  error: unknown,
  ...codes: Code[]
) => error is RingfenceError<Details, Code>;

/** The guard for the codes of one part of the program, so that the compiler knows them and what they carry. */
export function codeGuard<Details extends object>(): CodeGuard<Details> {
  return <Code extends keyof Details & string>(
    error: unknown,
    ...codes: Code[]
  ): error is RingfenceError<Details, Code> =>
    error instanceof RingfenceError && (codes as readonly string[]).includes(error.code);
}
