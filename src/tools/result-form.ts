/** Where a result is written: as structured content and text, as text alone, or as structured content with a text of one line. */
export const RESULT_MODES = ['both', 'text', 'structured'] as const;
export type ResultMode = (typeof RESULT_MODES)[number];

/** How results are written for one client. */
export interface ResultForm {
  readonly mode: ResultMode;
  /**
   * The most characters that one result has, in what the model sees of it. A longer one is cut at a line or an entry and names the
   * arguments that get the rest. Undefined if only the transport limits it.
   */
  readonly maxChars: number | undefined;
}

/** The form of a client that nothing is known about. */
export const DEFAULT_RESULT_FORM: ResultForm = { mode: 'both', maxChars: undefined };

/** Arguments to lay over those of a call to get what its result left out. */
export type NextArguments = Readonly<Record<string, string | number | boolean>>;

/** The line that ends a text which was cut. */
export function nextLine(next: NextArguments, why = 'more to come'): string {
  return `[${why}; next: ${JSON.stringify(next)}]`;
}
