/** A tool that the one who is asked may answer with. */
export interface SampleTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
}

/** What is asked, in the form of MCP's `sampling/createMessage`. The same question has the same params, to the letter. */
export interface SampleParams {
  readonly messages: { readonly role: 'user'; readonly content: { readonly type: 'text'; readonly text: string } }[];
  readonly systemPrompt: string;
  readonly maxTokens: number;
  /** To be left out for a client that did not declare `sampling.tools`: it could not parse its own answer. */
  readonly tools: SampleTool[];
}

/** One block of an answer. Text and tool calls are understood, all others ignored. */
export interface SampleBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

/** The result of `sampling/createMessage`, or just its text. */
export type SampleAnswer =
  | string
  | { readonly content: string | SampleBlock | readonly SampleBlock[]; readonly stopReason?: string | undefined };

/** What is asked for: for one who can look it up without a model. */
export type SampleQuestion =
  | ({ readonly type: 'file' } & FileQuestion)
  | ({ readonly type: 'directory' } & ListingQuestion);

export interface FileQuestion {
  /** Relative to the project, checked against the policy. */
  readonly path: string;
  readonly encoding: string | undefined;
  readonly fallbackEncodings: readonly string[];
  /** The content is to come in base64. */
  readonly binary: boolean;
}

export interface ListingQuestion {
  /** Relative to the project, checked against the policy. */
  readonly path: string;
  readonly recursive: boolean;
  readonly pattern: string | undefined;
}

export interface SampleOptions {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The bridge gives up after as long, whether this function settles or not. */
  readonly timeoutMs: number;
  /** What the params ask for; a bridge always says so. */
  readonly question?: SampleQuestion | undefined;
}

/** Asks whoever has the files. What it throws reaches the caller of the bridge untouched, unless it is a `RingfenceError`. */
export interface Sample {
  (params: SampleParams, options: SampleOptions): Promise<SampleAnswer>;
  /**
   * The answer comes with a later run of the call that asked, so that no call may wait for the question of another: each
   * asks by itself, and this function sees to it that the client is asked once.
   */
  readonly separate?: boolean | undefined;
}
