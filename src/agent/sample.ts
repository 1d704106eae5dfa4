/** A tool that the client's model may answer with. */
export interface SampleTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
}

/** The parameters of an MCP `sampling/createMessage` request. Equal questions produce identical parameters. */
export interface SampleParams {
  readonly messages: { readonly role: 'user'; readonly content: { readonly type: 'text'; readonly text: string } }[];
  readonly systemPrompt: string;
  readonly maxTokens: number;
  /** Omit these for a client that did not declare the `sampling.tools` capability. */
  readonly tools: SampleTool[];
}

/** One content block of an answer. Blocks other than `text` and `tool_use` are ignored. */
export interface SampleBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

/** The result of `sampling/createMessage`, or only its text. */
export type SampleAnswer =
  | string
  | { readonly content: string | SampleBlock | readonly SampleBlock[]; readonly stopReason?: string | undefined };

/** What a sampling request asks for, in structured form, for implementations that answer without a model. */
export type SampleQuestion =
  | ({ readonly type: 'file' } & FileQuestion)
  | ({ readonly type: 'directory' } & ListingQuestion);

/** Asks for the content of one file. */
export interface FileQuestion {
  /** The path relative to the project root. The policy allows it. */
  readonly path: string;
  readonly encoding: string | undefined;
  readonly fallbackEncodings: readonly string[];
  /** Asks for the content in base64. */
  readonly binary: boolean;
}

/** Asks for the entries of a folder. */
export interface ListingQuestion {
  /** The path relative to the project root. The policy allows it. */
  readonly path: string;
  readonly recursive: boolean;
  readonly pattern: string | undefined;
}

/** What a `Sample` function gets besides the request. */
export interface SampleOptions {
  /** Aborted when no caller waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The bridge stops waiting after this time, whether the function settles or not. */
  readonly timeoutMs: number;
  /** What the request asks for. A `FilesystemBridge` always sets it. */
  readonly question?: SampleQuestion | undefined;
}

/**
 * Sends a sampling request to the client and resolves with its answer. A `RingfenceError` that it throws is converted
 * to a `BridgeError`; any other error reaches the caller of the bridge unchanged.
 */
export interface Sample {
  (params: SampleParams, options: SampleOptions): Promise<SampleAnswer>;
  /**
   * True if the answer arrives with a later run of the same call, as in the 2026-07-28 protocol. Calls then never share
   * a question, because one would wait for the rerun of another. The function itself has to avoid asking the client
   * twice.
   */
  readonly separate?: boolean | undefined;
}
