import { atMost } from '../runtime/at-most.ts';
import type { Channel, Message } from './channel.ts';
import { ClientError } from './client-error.ts';

/** The newest revision of the protocol that begins with a handshake, and the ones that a server may answer with. */
const PROTOCOL_VERSION = '2025-11-25';
const CANCELLED = 'cancelled by the user';
/** How long a server may take to be told that a request is cancelled. */
const CANCEL_MS = 1_000;
const METHOD_NOT_FOUND = -32601;
/** A server that goes on forever with its list is not followed. */
const MAX_PAGES = 100;

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A block of the content of a result. */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
}

/** The result of a call. */
export interface CallResult {
  readonly content?: readonly ContentBlock[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** How much of a call is done. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a client says about itself, and what it can do for the server. */
export interface ClientOptions {
  readonly name: string;
  readonly version: string;
  /** Asks the person whether to agree; undefined if nobody is there. */
  readonly confirm?: ((message: string) => Promise<boolean>) | undefined;
}

/** Options of a request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
  readonly onProgress: RequestOptions['onProgress'];
}

/** The smallest client of MCP that calls tools, reports progress, cancels, and answers yes or no questions. */
export class McpClient {
  readonly #channel: Channel;
  readonly #options: ClientOptions;
  readonly #pending = new Map<unknown, Pending>();
  #nextId = 1;

  private constructor(channel: Channel, options: ClientOptions) {
    this.#channel = channel;
    this.#options = options;
    channel.onmessage = (message) => this.#receive(message);
    channel.onlost = (why) => {
      for (const { reject } of this.#pending.values()) reject(new ClientError('unreachable', why));
      this.#pending.clear();
    };
  }

  /** Shakes hands with a server. Raises `ClientError`. */
  static async connect(channel: Channel, options: ClientOptions, signal?: AbortSignal): Promise<McpClient> {
    const client = new McpClient(channel, options);
    const { name, version, confirm } = options;
    const params = {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: confirm === undefined ? {} : { elicitation: {} },
      clientInfo: { name, version },
    };
    const answer = (await client.request('initialize', params, { signal })) as { protocolVersion?: unknown };
    channel.agreed(String(answer.protocolVersion ?? PROTOCOL_VERSION));
    await channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** Returns all tools of the server. Raises `ClientError`. */
  async listTools(signal?: AbortSignal): Promise<ListedTool[]> {
    const tools: ListedTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = (await this.request('tools/list', params, { signal })) as {
        readonly tools?: readonly ListedTool[];
        readonly nextCursor?: unknown;
      };
      tools.push(...(answer.tools ?? []));
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }

  /** Calls a tool. A tool that fails is a result, too. Raises `ClientError`. */
  async callTool(name: string, args: object, options: RequestOptions = {}): Promise<CallResult> {
    return (await this.request('tools/call', { name, arguments: args }, options)) as CallResult;
  }

  /** Sends a request and returns its result. Cancels it once its signal is aborted. Raises `ClientError`. */
  request(method: string, params: object, { signal, onProgress }: RequestOptions): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(new ClientError('cancelled', CANCELLED));
    const id = this.#nextId++;
    const meta = onProgress === undefined ? {} : { _meta: { progressToken: id } };
    return new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      const cancel = (): void => {
        const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
        const leave = (): void => reject(new ClientError('cancelled', CANCELLED));
        // Whoever cancels ends the connection next, so the server is told first.
        atMost(CANCEL_MS, this.#channel.send(cancelled)).then(leave, leave);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#channel.send({ jsonrpc: '2.0', id, method, params: { ...params, ...meta } }).catch(reject);
    }).finally(() => this.#pending.delete(id));
  }

  /** Ends the connection. */
  close(): Promise<void> {
    return this.#channel.close();
  }

  #receive(message: Message): void {
    if (typeof message.method === 'string') {
      if (message.id === undefined) this.#notified(message);
      else void this.#answer(message).catch(() => {});
      return;
    }
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    const error = message.error as { readonly message?: unknown } | undefined;
    if (error === undefined) pending.resolve(message.result);
    else pending.reject(new ClientError('refused', String(error.message ?? 'the server refuses the request')));
  }

  #notified({ method, params }: Message): void {
    if (method !== 'notifications/progress') return;
    const { progressToken, ...progress } = params as Progress & { readonly progressToken: unknown };
    this.#pending.get(progressToken)?.onProgress?.(progress);
  }

  /** Answers a request of the server: whether a person agrees, and that nothing else is offered. */
  async #answer({ id, method, params }: Message): Promise<void> {
    const { confirm } = this.#options;
    const reply = async (): Promise<object> => {
      if (method === 'ping') return { result: {} };
      if (method !== 'elicitation/create' || confirm === undefined)
        return { error: { code: METHOD_NOT_FOUND, message: `${String(method)} is not offered` } };
      const { message, requestedSchema } = params as { message?: unknown; requestedSchema?: { properties?: object } };
      // A form with fields is more than a question of yes or no.
      if (Object.keys(requestedSchema?.properties ?? {}).length > 0) return { result: { action: 'cancel' } };
      const agreed = await confirm(String(message));
      return { result: agreed ? { action: 'accept', content: {} } : { action: 'decline' } };
    };
    await this.#channel.send({ jsonrpc: '2.0', id, ...(await reply()) });
  }
}
