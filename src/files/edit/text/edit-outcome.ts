/** The new content of a file, and a result that depends on the kind of edit. */
export interface EditOutcome<R> {
  readonly content: Buffer;
  readonly result: R;
}
