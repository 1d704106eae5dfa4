/**
 * Where a result is written: as structured content and text, as text alone, or as structured content with a text of one
 * line.
 */
export const RESULT_MODES = ['both', 'text', 'structured'] as const;
export type ResultMode = (typeof RESULT_MODES)[number];

/** How results are written for one client. */
export interface ResultForm {
  readonly mode: ResultMode;
  /**
   * The most characters of content that one result has, in what the model sees of it. A longer one is cut at a line or
   * an entry and names the arguments that get the rest. Undefined if only the transport limits it.
   */
  readonly maxChars: number | undefined;
  /**
   * The most characters of one result with what stands around its content. Undefined if only the transport limits it.
   */
  readonly maxResultChars: number | undefined;
  /** Whether the client counts bytes of UTF-8, so that both limits are such bytes. */
  readonly countsBytes?: boolean;
}

/** Returns how a client counts the length of a text. */
export function lengthIn({ countsBytes }: Pick<ResultForm, 'countsBytes'>): (text: string) => number {
  return countsBytes ? Buffer.byteLength : charLength;
}

const charLength = (text: string): number => text.length;

/** The form of a client that nothing is known about. */
export const DEFAULT_RESULT_FORM: ResultForm = { mode: 'both', maxChars: undefined, maxResultChars: undefined };

/** The characters that are kept for what stands around the content of a result: its last line, or its other fields. */
const AROUND_CHARS = 300;

/** Makes the form of results of at most `maxResultChars` characters. */
export function resultForm(mode: ResultMode, maxResultChars: number | undefined): ResultForm {
  if (maxResultChars === undefined) return mode === 'both' ? DEFAULT_RESULT_FORM : { ...DEFAULT_RESULT_FORM, mode };
  return { mode, maxChars: Math.max(1, maxResultChars - AROUND_CHARS), maxResultChars };
}

/** Arguments to lay over those of a call to get what its result left out. */
export type NextArguments = Readonly<Record<string, string | number | boolean>>;

/** The line that ends a text which was cut. */
export function nextLine(next: NextArguments, why = 'more to come'): string {
  return `[${why}; next: ${JSON.stringify(next)}]`;
}
