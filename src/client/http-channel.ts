import { printable } from '../runtime/printable.ts';
import { type Channel, type Message, parseMessage } from './channel.ts';
import { ClientError } from './client-error.ts';
import { eventData } from './event-stream.ts';

/** How long the server may take to forget the session at the end. */
const CLOSE_MS = 1_000;

/**
 * Carries messages over Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports):
 * each is the body of a POST, whose answer is a message or a stream of them.
 */
export class HttpChannel implements Channel {
  onmessage: (message: Message) => void = () => {};
  onlost: (why: string) => void = () => {};
  readonly #url: URL;
  readonly #token: string | undefined;
  readonly #closing = new AbortController();
  #session: string | undefined;
  #protocolVersion: string | undefined;

  constructor(url: URL, token: string | undefined) {
    this.#url = url;
    this.#token = token;
  }

  async send(message: Message): Promise<void> {
    const response = await this.#post(message);
    const session = response.headers.get('mcp-session-id');
    if (session !== null) this.#session = session;
    if (!response.ok) return this.#refuse(response);
    if (response.status === 202 || response.body === null) return;
    const answered = await this.#readAnswer(response, message.id).catch((error: unknown) => {
      if (error instanceof ClientError) throw error;
      throw this.#unreachable('broke the connection off', error);
    });
    if (message.method !== undefined && message.id !== undefined && !answered) {
      throw this.#unreachable('ended its answer before the result');
    }
  }

  agreed(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  async close(): Promise<void> {
    if (this.#session !== undefined) {
      const ended = { method: 'DELETE', headers: this.#headers(), signal: AbortSignal.timeout(CLOSE_MS) };
      await fetch(this.#url, ended).catch(() => {});
    }
    this.#closing.abort();
  }

  async #post(message: Message): Promise<Response> {
    try {
      return await fetch(this.#url, {
        method: 'POST',
        headers: {
          ...this.#headers(),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(message),
        // The token is for this address alone.
        redirect: 'error',
        signal: this.#closing.signal,
      });
    } catch (error) {
      throw this.#unreachable(reasonOf(error), error);
    }
  }

  /** Passes the messages of an answer on, and reports whether the response to a request was among them. */
  async #readAnswer(response: Response, id: unknown): Promise<boolean> {
    let answered = false;
    const pass = (text: string): void => {
      const message = parseMessage(text);
      if (message === undefined) return;
      answered ||= message.id === id && message.method === undefined;
      this.onmessage(message);
    };
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body !== null) {
      for await (const data of eventData(response.body)) pass(data);
    } else if (type.startsWith('application/json')) pass(await response.text());
    else throw this.#unreachable('does not speak MCP there');
    return answered;
  }

  async #refuse(response: Response): Promise<never> {
    const { status } = response;
    const text = await response.text().catch(() => '');
    if (status === 401 || status === 403) {
      const advice =
        this.#token === undefined ? 'set RINGFENCE_TOKEN to a token of it' : 'RINGFENCE_TOKEN is not valid there';
      throw this.#unreachable(status === 401 ? `wants a token; ${advice}` : `refuses this client (403); ${advice}`);
    }
    const error = parseMessage(text)?.error as { readonly message?: unknown } | undefined;
    const says = typeof error?.message === 'string' ? `: ${printable(error.message)}` : '';
    if (status === 404 || status === 405) throw this.#unreachable(`does not speak MCP there (HTTP ${status})${says}`);
    if (says !== '') throw new ClientError('refused', String(error?.message));
    throw this.#unreachable(`answered with HTTP ${status}`);
  }

  #headers(): Record<string, string> {
    return {
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#protocolVersion !== undefined && { 'mcp-protocol-version': this.#protocolVersion }),
    };
  }

  #unreachable(what: string, cause?: unknown): ClientError {
    const { origin, pathname } = this.#url;
    return new ClientError('unreachable', `the server at ${origin}${pathname} ${what}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown; readonly message?: unknown } };
  if (cause?.code === 'ECONNREFUSED') return 'cannot be reached: nothing listens there';
  if (cause?.code === 'ENOTFOUND' || cause?.code === 'EAI_AGAIN')
    return 'cannot be reached: the host name is not known';
  if (cause?.message === 'unexpected redirect') return 'redirects elsewhere; give the address that it leads to';
  return `cannot be reached: ${String(cause?.code ?? cause?.message ?? 'unknown error')}`;
}
