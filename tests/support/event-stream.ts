import { once } from 'node:events';
import http from 'node:http';

/** A server-sent event; its fields are empty texts if it does not have them. */
export interface SentEvent {
  readonly id: string;
  readonly retry: string;
  readonly data: string;
}

export interface RequestSpec {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly message?: unknown;
}

/** A response that is read event by event. Dispose of it to break the connection. */
export class EventStreamClient implements Disposable {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly #response: http.IncomingMessage;
  #text = '';
  #wake = (): void => {};

  private constructor(response: http.IncomingMessage) {
    this.#response = response.setEncoding('utf8').on('data', (chunk: string) => {
      this.#text += chunk;
      this.#wake();
    });
    response.on('close', () => this.#wake());
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
  }

  /** Sends a request on a connection of its own and resolves with its response, as soon as that begins. */
  static async open(url: string, { method = 'POST', headers, message }: RequestSpec): Promise<EventStreamClient> {
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
    const request = http.request(url, { method, headers: all, agent: false });
    request.end(message === undefined ? undefined : JSON.stringify(message));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    request.on('error', () => {});
    response.on('error', () => {});
    return new EventStreamClient(response);
  }

  /** Resolves with the next event; undefined at the end of the response. Comments are skipped. */
  async next(): Promise<SentEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (!block.startsWith(':')) return parseEvent(block);
        continue;
      }
      if (this.#response.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Resolves with all events up to the end of the response. */
  async rest(): Promise<SentEvent[]> {
    const events: SentEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  /** Resolves with the body of a response that is no event stream. */
  async body(): Promise<string> {
    await this.rest();
    return this.#text;
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }
}

function parseEvent(block: string): SentEvent {
  const event = { id: '', retry: '', data: '' };
  for (const line of block.split('\n')) {
    const [, name, value] = /^(id|retry|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) event[name as keyof SentEvent] += value;
  }
  return event;
}
