/** Where an error happened, and its cause. */
export interface ErrorLocation {
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  /** The name of the root, never its host path. */
  readonly root?: string | undefined;
  /** The underlying error. It may contain host paths: log it, do not send it. */
  readonly cause?: unknown;
}

/**
 * The base class of every expected failure. Each layer has a subclass with a closed list of codes; `Details` maps each
 * code to the type of its details. `message` is only the code; dialects build the text for clients from `code` and
 * `details`.
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
  addLocation(path: string | undefined, root?: string): this {
    this.path ??= path;
    this.root ??= root;
    return this;
  }
}

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export type CodeGuard<Details extends object> = <Code extends keyof Details & string>(
  error: unknown,
  ...codes: Code[]
) => error is RingfenceError<Details, Code>;

/** Creates a type guard for the codes of one layer, which narrows an error to the details of its code. */
export function codeGuard<Details extends object>(): CodeGuard<Details> {
  return <Code extends keyof Details & string>(
    error: unknown,
    ...codes: Code[]
  ): error is RingfenceError<Details, Code> =>
    error instanceof RingfenceError && (codes as readonly string[]).includes(error.code);
}
