import assert from 'node:assert/strict';

export type DialectName = 'workspace' | 'memory' | 'classic' | 'guide';

export interface CallResult {
  readonly isError: boolean;
  /** All text blocks, joined. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  readonly structured: any;
  // biome-ignore lint/suspicious/noExplicitAny: the result as the client received it
  readonly raw: any;
}

interface MemoryError {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

interface ClassicError {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly path: string; readonly operation: string; readonly reason?: string };
}

/** The error of a failed call in each dialect. */
interface DialectErrors {
  /** The text itself. */
  readonly workspace: string;
  readonly memory: MemoryError;
  readonly classic: ClassicError;
  /** The guide's Result. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  readonly guide: any;
}

/** The dialect whose contract a tool's answers follow: the guide's tools keep theirs where another dialect serves them. */
type ContractOf<D extends DialectName, T extends string> = T extends `guide_${string}` ? 'guide' : D;

/** The error that a tool answers on a server of a dialect. */
export type ToolError<D extends DialectName, T extends string = string> = DialectErrors[ContractOf<D, T>];

interface Contract<E> {
  /** Parses the text of a failure. Throws `AssertionError` for one that the contract does not allow. */
  error(text: string): E;
  /** Throws `AssertionError` for a success whose text does not say what the contract promises. */
  success?(tool: string, result: CallResult): void;
}

const CONTRACTS: { readonly [D in DialectName]: Contract<DialectErrors[D]> } = {
  workspace: {
    error: (text) => {
      assert(!/[\n\r]/.test(text), `an error is one line: ${text}`);
      return text;
    },
    success: (tool, { text, structured }) => {
      if (tool !== 'read_file') assert.deepEqual(JSON.parse(text), structured);
    },
  },
  memory: { error: JSON.parse },
  classic: {
    error: (text) => {
      const { error, ...rest } = JSON.parse(text);
      assert.deepEqual(rest, {}, 'a failure holds nothing but its error');
      return error;
    },
    success: (_, { text, structured }) => {
      assert.equal(JSON.stringify(JSON.parse(text)), JSON.stringify(structured), 'text and structure differ');
    },
  },
  guide: {
    error: (text) => {
      const result = JSON.parse(text);
      assertGuideResult(result, false);
      assert(GUIDE_ERROR_TYPES.includes(result.error_type), `unknown error_type: ${text}`);
      assert(result.error.length > 0 && result.instruction.length > 0, text);
      assert(!('data' in result), 'a failure has no data');
      return result;
    },
    success: (_, { text, structured }) => {
      const result = JSON.parse(text);
      assert.deepEqual(result, structured);
      assertGuideResult(result, true);
      assert(typeof result.data === 'object' && result.data !== null, text);
      assert(!('error' in result || 'error_type' in result), text);
    },
  },
};

const GUIDE_ERROR_TYPES = ['security', 'validation', 'not_found', 'permission', 'timeout', 'unsupported', 'system'];
const GUIDE_FIELDS = ['success', 'data', 'message', 'warnings', 'stats', 'error', 'error_type', 'instruction'];

function assertGuideResult(result: Readonly<Record<string, unknown>>, success: boolean): void {
  const unknown = Object.keys(result).filter((key) => !GUIDE_FIELDS.includes(key));
  assert.deepEqual(unknown, []);
  assert.equal(result.success, success);
  assert.equal(typeof result.stats, 'object', `there are no stats: ${JSON.stringify(result)}`);
}

/** One call and its answer. */
export interface Answer<D extends DialectName, T extends string> {
  readonly dialect: D;
  readonly tool: T;
  readonly result: CallResult;
}

/**
 * Returns the error of a call in the form of its dialect. Throws `AssertionError` if the call succeeded, or if the answer
 * is not one text block without structured content that the dialect's contract allows.
 */
export function errorOf<D extends DialectName, T extends string>({ dialect, tool, result }: Answer<D, T>) {
  assert(result.isError, `${tool} succeeded: ${result.text.slice(0, 500)}`);
  assertOneText(result);
  assert.equal(result.structured, undefined, 'an error carries text only');
  return CONTRACTS[contractOf(dialect, tool)].error(result.text) as ToolError<D, T>;
}

/**
 * Throws `AssertionError` unless the call succeeded with one text block that the dialect's contract allows, after a block with the
 * same content if the file is an image or audio.
 */
export function assertSuccess({ dialect, tool, result }: Answer<DialectName, string>): void {
  assert(!result.isError, `${tool} failed: ${result.text}`);
  const { content: data, mime_type: mimeType } = result.structured ?? {};
  if (typeof mimeType !== 'string') assertOneText(result);
  else {
    const [media, text, ...rest] = result.raw.content;
    assert.deepEqual(media, { type: mimeType.split('/')[0], mimeType, data });
    assert.deepEqual([text.type, rest], ['text', []]);
  }
  CONTRACTS[contractOf(dialect, tool)].success?.(tool, result);
}

function contractOf(dialect: DialectName, tool: string): DialectName {
  return tool.startsWith('guide_') ? 'guide' : dialect;
}

function assertOneText({ raw }: CallResult): void {
  assert.equal(raw.content.length, 1);
  assert.equal(raw.content[0].type, 'text');
}
