import fs from 'node:fs';
import path from 'node:path';
import { EventStreamClient } from './event-stream.ts';
import { startServer, type TestServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';
import type { ToolClient } from './tool-client.ts';

/** Two agents and three people: one sees both roots, one only `docs`, and one may look but undo nothing. */
export const TOKENS = {
  agent: 'agent-token-3b1f0c6e9a',
  other: 'other-agent-token-77aa',
  operator: 'operator-token-90fe21',
  writer: 'docs-person-token-41c8',
  guest: 'guest-token-5d22b7e0aa',
} as const;
export type TokenName = keyof typeof TOKENS;

const ROOTS = ['code', 'docs'] as const;
const CONFIG_TOKENS = [
  { name: 'agent', roots: [...ROOTS] },
  { name: 'other', roots: ['code'] },
  { name: 'operator', roots: [...ROOTS], console: true },
  { name: 'writer', roots: ['docs'], console: true },
  { name: 'guest', roots: [...ROOTS], tools: ['read_file'], console: true },
];
const variable = (name: string): string => `TOKEN_OF_${name.toUpperCase()}`;

/** A server with a console, two roots with history in which a person has to agree to `remove_folder`, and an agent. */
export class ConsoleServer implements AsyncDisposable {
  readonly server: TestServer;
  readonly base: string;
  readonly #folder: string;

  private constructor(server: TestServer, folder: string) {
    this.server = server;
    this.base = new URL(server.url).origin;
    this.#folder = folder;
  }

  static async start(config: Readonly<Record<string, unknown>> = {}): Promise<ConsoleServer> {
    const folder = tempDir('ringfence-console-');
    const roots = ROOTS.map((name) => {
      fs.mkdirSync(path.join(folder, name));
      const rules = { deny: ['secret*'], confirm: ['remove_folder'], history: {} };
      return { name, path: path.join(folder, name), allowed_tools: ['*'], ...rules };
    });
    const auth = { tokens: CONFIG_TOKENS.map((token) => ({ ...token, token_env: variable(token.name) })) };
    const env = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [variable(name), token]));
    const all = { console: { enabled: true }, auth, ...config };
    return new ConsoleServer(await startServer({ roots, config: all, env, token: TOKENS.agent }), folder);
  }

  /** The agent, which has the token `agent`. */
  get agent(): ToolClient {
    return this.server;
  }

  /** The host path of a path in a root. */
  host(root: (typeof ROOTS)[number], name: string): string {
    return path.join(this.#folder, root, name);
  }

  /** Puts a file there without the history's knowing, as another program does. */
  place(root: (typeof ROOTS)[number], name: string, content: string): void {
    fs.mkdirSync(path.dirname(this.host(root, name)), { recursive: true });
    fs.writeFileSync(this.host(root, name), content);
  }

  /** Makes a file that takes minutes to read. */
  placeHuge(root: (typeof ROOTS)[number], name: string): void {
    this.place(root, name, '');
    fs.truncateSync(this.host(root, name), 200 * 1024 ** 3);
  }

  text(root: (typeof ROOTS)[number], name: string): string | undefined {
    return fs.existsSync(this.host(root, name)) ? fs.readFileSync(this.host(root, name), 'utf8') : undefined;
  }

  /** Signs somebody in. */
  async signIn(name: TokenName): Promise<ConsoleUser> {
    const user = new ConsoleUser(this.base);
    const { status } = await user.post('sign-in', { token: TOKENS[name] });
    if (status !== 200) throw new Error(`${name} cannot sign in: ${status}`);
    return user;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they check
  readonly body: any;
}

/** Somebody who makes the requests of the page, and keeps its cookie. */
export class ConsoleUser {
  readonly #base: string;
  cookie = '';
  /** The key of the page. */
  key = 'none';

  constructor(base: string) {
    this.#base = base;
  }

  get(at: string, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.#request(at, { headers: { 'x-ringfence-console': this.key, ...headers } });
  }

  post(at: string, body: object = {}, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    const all = { 'content-type': 'application/json', 'x-ringfence-console': this.key, ...headers };
    return this.#request(at, { method: 'POST', headers: all, body: JSON.stringify(body) });
  }

  /** Waits until an answer is as wanted, and returns it. */
  async until(at: string, isWanted: (body: ConsoleAnswer['body']) => boolean): Promise<ConsoleAnswer['body']> {
    for (let left = 150; left > 0; left -= 1) {
      const { body } = await this.get(at);
      if (isWanted(body)) return body;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${at} did not become as wanted: ${JSON.stringify((await this.get(at)).body).slice(0, 2000)}`);
  }

  /** Opens the stream of events. */
  events(): Promise<EventStreamClient> {
    const headers = { cookie: this.cookie };
    return EventStreamClient.open(`${this.#base}/console/api/events?key=${this.key}`, { method: 'GET', headers });
  }

  async #request(at: string, init: RequestInit & { headers: Record<string, string> }): Promise<ConsoleAnswer> {
    const headers = this.cookie === '' ? init.headers : { cookie: this.cookie, ...init.headers };
    const response = await fetch(`${this.#base}/console/api/${at}`, { ...init, headers });
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) this.cookie = cookie.split(';', 1)[0] ?? '';
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    if (typeof answer?.key === 'string') this.key = answer.key;
    return { status: response.status, headers: response.headers, body: answer };
  }
}
