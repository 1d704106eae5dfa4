import http from 'node:http';

/**
 * A client of the 2026 era over one connection that it keeps, as agents do. It knows nothing of the SDK, so that what
 * happens to its connections is seen: a connection that is reset is a failure.
 */
export class RawClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #token: string | undefined;
  #id = 0;

  constructor(url: string, token?: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Calls a tool and resolves with its structured content. Rejects if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<any> {
    this.#id += 1;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name, arguments: args, _meta: meta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#id, method: 'tools/call', params });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
    };
    const text = await this.#post(body, headers);
    const json = text.startsWith('{') ? text : text.replace(/^[\s\S]*?^data: (?=\{)/m, '').split('\n', 1)[0];
    const { structuredContent, isError } = JSON.parse(json ?? '').result ?? {};
    if (isError || structuredContent === undefined) throw new Error(text);
    return structuredContent;
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: string, headers: http.OutgoingHttpHeaders): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = http.request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}
