import { once } from 'node:events';
import http from 'node:http';
import { SERVED_BY } from './storm-balancer.ts';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

/** What a call came to: its result, or a failure of what lies between. */
export interface StormAnswer {
  readonly status: number;
  /** The server that the balancer sent the request to, if it says. */
  readonly server: string | undefined;
  readonly body: string;
  readonly ok: boolean;
}

/** A client with one connection to the balancer, of either era. It never repeats a call by itself. */
export class StormClient {
  readonly #url: URL;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  #session: string | undefined;

  private constructor(url: URL) {
    this.#url = url;
  }

  static async open(url: string, era: 'legacy' | 'modern'): Promise<StormClient> {
    const client = new StormClient(new URL(url));
    if (era === 'modern') return client;
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'storm', version: '0' } };
    const { headers } = await client.#post({ id: 0, method: 'initialize', params });
    client.#session = String(headers['mcp-session-id']);
    return client;
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<StormAnswer> {
    const params = { name, arguments: { root: 'shared', ...args } };
    try {
      const { status, headers, body } = await this.#post(this.#request(name, params), this.#headers(name));
      const ok = status === 200 && !body.includes('"isError":true') && !body.includes('"error":');
      return { status, body, ok, server: headers[SERVED_BY] as string | undefined };
    } catch (error) {
      return { status: 0, body: String(error), ok: false, server: undefined };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #request(_name: string, params: Record<string, unknown>): Record<string, unknown> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'storm', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const whole = this.#session === undefined ? { ...params, _meta } : params;
    return { id: 1, method: 'tools/call', params: whole };
  }

  #headers(name: string): Record<string, string> {
    if (this.#session !== undefined) return { 'mcp-session-id': this.#session, 'mcp-protocol-version': LEGACY };
    return { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name };
  }

  async #post(message: Record<string, unknown>, more: Record<string, string> = {}) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    };
    const request = http.request(this.#url, { method: 'POST', headers, agent: this.#agent });
    request.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let body = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    await once(response, 'end');
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }
}
