import fs from 'node:fs';
import path from 'node:path';
import { Scrape } from '../support/prometheus-text.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

export const TOKENS = {
  agent: 'token-of-an-agent-0123456789',
  greedy: 'token-of-a-greedy-agent-0123',
  operator: 'token-of-an-operator-012345',
} as const;

/** A server with metrics that has done some of everything that they count. */
export class BusyServer implements AsyncDisposable {
  readonly server: TestServer;
  readonly #folder: string;

  private constructor(server: TestServer, folder: string) {
    this.server = server;
    this.#folder = folder;
  }

  static async start(): Promise<BusyServer> {
    const folder = tempDir();
    const roots = [
      { name: 'workspace', path: folder, history: true },
      { name: 'laptop', agent: { allowed_paths: ['docs/'] }, allowed_tools: ['read_file'] },
    ];
    const all = { roots: ['workspace', 'laptop'] };
    const tokens = Object.keys(TOKENS).map((name) => ({
      ...all,
      name,
      token_env: `TOKEN_${name}`,
      ...(name === 'operator' && { console: true }),
    }));
    const env = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [`TOKEN_${name}`, token]));
    const config = {
      console: { enabled: true },
      auth: { tokens },
      // So few a second that a slow machine does not get another one.
      rate_limit: { calls_per_second: 0.05, burst: 40 },
      dialects: { workspace: {}, memory: { root: 'workspace' } },
    };
    fs.writeFileSync(path.join(folder, 'a.txt'), 'hello\n');
    const server = await startServer({ roots, config, env, token: TOKENS.agent });
    const busy = new BusyServer(server, folder);
    await busy.#work();
    return busy;
  }

  /** Asks for a path of the server. */
  fetch(at: string, options: RequestInit & { readonly token?: string } = {}): Promise<Response> {
    const { token, ...rest } = options;
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...rest.headers };
    return fetch(new URL(at, this.server.url), { ...rest, headers });
  }

  async scrape(): Promise<Scrape> {
    const response = await this.fetch('/metrics', { token: TOKENS.operator });
    return new Scrape(await response.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  async #work(): Promise<void> {
    const { server } = this;
    const at = { root: 'workspace', path: 'a.txt' };
    await server.ok('read_file', at);
    await server.ok('read_file', at);
    await server.fails('read_file', { ...at, path: 'missing.txt' });
    await server.fails('read_file', { ...at, path: '../../etc/passwd' });
    await server.ok('write_file', { ...at, content: 'changed\n', mode: 'overwrite' });
    await server.ok('grep', { root: 'workspace', path: '', pattern: 'changed' });
    for (const name of ['no_such_tool', 'nor_this"one\n']) await server.call(name).catch(() => {});
    await server.call('guide_cache_file', { path: 'docs/a.md', content: 'cached' });
    await server.ok('read_file', { root: 'laptop', path: 'docs/a.md' });
    await server.fails('read_file', { root: 'laptop', path: 'docs/b.md' });
    await using notes = await server.connect({ dialect: 'memory', token: TOKENS.agent });
    await notes.ok('view', { path: '' });
    await using greedy = await server.connect({ token: TOKENS.greedy });
    for (let count = 0; count < 50; count += 1) await greedy.call('read_file', at);
    await server.waitForLog(({ code }) => code === 'rate_limited');
    await this.fetch('/mcp', { method: 'POST', token: 'a-wrong-token-0123456789' });
    await this.fetch('/mcp', { method: 'POST', headers: { origin: 'http://example.org' } });
  }
}
