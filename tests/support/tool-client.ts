import assert from 'node:assert/strict';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Era } from './connections.ts';
import { assertSuccess, type CallResult, type DialectName, errorOf, type ToolError } from './dialect-contracts.ts';

export type Args = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number }) => void;
}

/** Sends one call and resolves with the result of the protocol. */
type Send<O> = (tool: string, args: Args, options?: O) => Promise<object>;

/** Throws for an answer that a test does not accept. */
export type AnswerCheck = (tool: string, result: CallResult) => void;

/** Calls the tools of one server in one dialect, by whatever way `send` takes. */
export class ToolCalls<D extends DialectName, O = CallOptions> {
  readonly dialect: D;
  readonly #send: Send<O>;
  #check: AnswerCheck | undefined;

  constructor(dialect: D, send: Send<O>) {
    this.dialect = dialect;
    this.#send = send;
  }

  /** From now on, every answer of `call` has to keep the dialect's contract and to pass the check. */
  checkAnswers(check: AnswerCheck): void {
    this.#check = check;
  }

  /** Calls a tool. Rejects if the protocol itself refuses the call, as for an unknown tool. */
  async call(tool: string, args: Args = {}, options?: O): Promise<CallResult> {
    const raw = (await this.#send(tool, args, options)) as CallResult['raw'];
    const text = raw.content.map((block: { text?: string }) => block.text ?? '').join('\n');
    const result = { isError: raw.isError === true, text, structured: raw.structuredContent, raw };
    if (this.#check === undefined) return result;
    if (result.isError) this.errorOf(tool, result);
    else assertSuccess({ dialect: this.dialect, tool, result });
    this.#check(tool, result);
    return result;
  }

  /** Returns the structured content of a call that has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  async ok(tool: string, args: Args = {}, options?: O): Promise<any> {
    const result = await this.call(tool, args, options);
    // Comparing a large answer with its text takes longer than the call, so not twice.
    if (result.isError || this.#check === undefined) {
      about(args, () => assertSuccess({ dialect: this.dialect, tool, result }));
    }
    return result.structured;
  }

  /** Returns the error of a call that has to fail, in the form of the dialect's contract. */
  async fails<T extends string>(tool: T, args: Args = {}, options?: O): Promise<ToolError<D, T>> {
    const result = await this.call(tool, args, options);
    return about(args, () => this.errorOf(tool, result));
  }

  /** Returns the error of a failed call. Throws `AssertionError` if it did not fail as the dialect's contract says. */
  errorOf<T extends string>(tool: T, result: CallResult): ToolError<D, T> {
    return errorOf({ dialect: this.dialect, tool, result });
  }
}

/** Adds the arguments of a call to what is thrown about its answer. */
function about<R>(args: Args, check: () => R): R {
  try {
    return check();
  } catch (error) {
    throw new Error(`${(error as Error).message}\nwith ${JSON.stringify(args).slice(0, 500)}`, { cause: error });
  }
}

/** Calls tools through a client of the protocol. */
export class ToolClient<D extends DialectName = 'workspace'> extends ToolCalls<D> implements AsyncDisposable {
  readonly client: Client;

  constructor(dialect: D, client: Client) {
    super(dialect, (tool, args, options) =>
      client.callTool({ name: tool, arguments: { ...args } }, { timeout: 60_000, ...options } as never),
    );
    this.client = client;
  }

  /** The checks of structured content by the output schemas that the server lists. */
  async outputChecks(): Promise<AnswerCheck> {
    const { tools } = await this.client.listTools();
    const schemas = new Map(tools.map(({ name, outputSchema }) => [name, z.fromJSONSchema(outputSchema as never)]));
    return (tool, { isError, structured }) => {
      if (!isError) schemas.get(tool)?.parse(structured);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close().catch(() => {});
  }
}

/** Makes a client of one era that is not connected yet. */
export function newClient(era: Era, options: ClientOptions = {}, name = 'ringfence-tests'): Client {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : ('legacy' as const);
  return new Client({ name, version: '0.0.0' }, { ...options, versionNegotiation: { mode } });
}

export interface HttpClientOptions<D extends DialectName> {
  /** Default `workspace`. */
  readonly dialect?: D;
  /** Default `legacy`. */
  readonly era?: Era;
  /** The bearer token that the client sends. */
  readonly token?: string | undefined;
  /** The client to connect; a new one if left out. */
  readonly client?: Client | undefined;
}

/** Connects a client to a server on HTTP, at the path of a dialect. */
export async function connectHttp<D extends DialectName = 'workspace'>(
  base: string,
  { dialect = 'workspace' as D, era = 'legacy', token, client = newClient(era) }: HttpClientOptions<D> = {},
): Promise<ToolClient<D>> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const url = new URL(mountOf(dialect), base);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return new ToolClient(dialect, client);
}

/** Returns the transport of a client that is connected over HTTP. */
export function httpTransport({ transport }: Client): StreamableHTTPClientTransport {
  assert(transport instanceof StreamableHTTPClientTransport);
  return transport;
}

/** The path at which a dialect is served over HTTP. */
export function mountOf(dialect: DialectName): string {
  return dialect === 'workspace' ? '/mcp' : `/mcp/${dialect}`;
}
