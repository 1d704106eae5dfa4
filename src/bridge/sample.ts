/** A tool that the client's model may use to answer. */
export interface SampleTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** A question to the client's model: the parameters of MCP's `sampling/createMessage`. */
export interface SampleParams {
  readonly messages: { readonly role: 'user'; readonly content: { readonly type: 'text'; readonly text: string } }[];
  readonly systemPrompt?: string;
  readonly maxTokens: number;
  /** Left out by the server where the client does not take them. */
  readonly tools?: SampleTool[];
}

export type SampleBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: unknown; readonly id?: string }
  | { readonly type: string };

export interface SampleAnswer {
  readonly content: SampleBlock | SampleBlock[] | string;
  readonly stopReason?: string;
}

/**
 * Asks the client. Rejects with `timed_out`, `sampling_unsupported` or what else kept the client from answering; what it
 * rejects with has to be passed on as it is, since it may be no failure but the way of a server to end a round.
 */
export type Sample = (
  params: SampleParams,
  options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
) => Promise<SampleAnswer>;
