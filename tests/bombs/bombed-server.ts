import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { DialectName } from '../support/dialect-contracts.ts';
import { type LogLine, ProcessLog, spawnRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { mountOf } from '../support/tool-client.ts';
import type { Bomb } from './bombs.ts';

const MONITOR = fileURLToPath(new URL('event-loop-monitor.js', import.meta.url));
const ANSWER_MS = 60_000;

/** What a server did with a bomb. */
export interface Impact {
  /** Its answer: a JSON-RPC response, or a batch of them. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they check
  readonly answer: any;
  readonly answerBytes: number;
  /** The longest that its event loop was held, by the clock and in time of its main thread. */
  readonly heldMs: number;
  readonly heldCpuMs: number;
  /** The latency of `/health` at the 99th percentile; over HTTP only. */
  readonly healthMs?: number;
}

/** A server in a process of its own whose event loop is monitored. Dispose of it with `await using`. */
abstract class BombedServer implements AsyncDisposable {
  protected readonly base = tempDir('ringfence-bombs-');
  protected readonly child: ChildProcessWithoutNullStreams;
  protected readonly log: ProcessLog;
  readonly #config: string;
  #reports = 0;

  /** `stdio` is the dialect to serve over stdio, by its own command. */
  constructor(dialects: readonly DialectName[], stdio?: DialectName) {
    const files = path.join(this.base, 'files');
    const project = path.join(this.base, 'project');
    fillFolder(files);
    fs.mkdirSync(path.join(project, 'docs'), { recursive: true });
    const bound = { workspace: {}, memory: { root: 'files' }, classic: { root: 'files' }, guide: { project } };
    this.#config = writeConfig({
      host: '127.0.0.1',
      port: 0,
      durable_writes: false,
      log_level: 'info',
      roots: [{ name: 'files', path: files, allowed_tools: ['*'] }],
      dialects: Object.fromEntries(dialects.map((dialect) => [dialect, bound[dialect]])),
    });
    const commands = {
      workspace: ['stdio', '--config', this.#config],
      memory: ['memory'],
      classic: ['classic', '--root-dir', files],
      guide: ['guide', '--project', project],
    };
    const args = stdio === undefined ? ['serve', '--config', this.#config] : commands[stdio];
    this.child = spawnRingfence(args, { nodeOptions: ['--import', MONITOR], env: { BASE_PATH: files } });
    this.log = new ProcessLog(this.child);
  }

  /** Sends a bomb and resolves when it is answered. */
  async throwBomb(bomb: Bomb, dialect: DialectName): Promise<Impact> {
    const message = bomb.message(dialect);
    await this.#held();
    const answer = await this.send(message, dialect);
    const { held_ms: heldMs, held_cpu_ms: heldCpuMs } = await this.#held();
    return { answer: JSON.parse(answer), answerBytes: Buffer.byteLength(answer), heldMs, heldCpuMs };
  }

  logs(): LogLine[] {
    return this.log.lines();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) {
      this.child.kill();
      await once(this.child, 'close');
    }
    fs.rmSync(this.base, { recursive: true, force: true });
    fs.rmSync(path.dirname(this.#config), { recursive: true, force: true });
  }

  protected abstract send(message: string, dialect: DialectName): Promise<string>;

  /** Returns how long the event loop was held since the last call. */
  async #held(): Promise<LogLine> {
    const count = this.#reports + 1;
    const reports = () => this.log.lines().filter(({ msg }) => msg === 'event loop');
    this.child.kill('SIGWINCH');
    await this.log.waitFor(() => reports().length >= count);
    this.#reports = count;
    return reports()[count - 1] ?? {};
  }
}

/** Serves all dialects over HTTP. */
export class BombedHttpServer extends BombedServer {
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #sessions = new Map<DialectName, string>();
  #url = '';
  #poller: Worker | undefined;

  static async start(): Promise<BombedHttpServer> {
    const server = new BombedHttpServer(['workspace', 'memory', 'classic', 'guide']);
    server.child.stdout.resume();
    server.#url = (await server.log.waitFor(({ msg }) => msg === 'listening')).url;
    server.#poller = new Worker(new URL('health-poll.js', import.meta.url), {
      workerData: new URL('/health', server.#url).href,
    });
    return server;
  }

  override async throwBomb(bomb: Bomb, dialect: DialectName): Promise<Impact> {
    await this.#session(dialect);
    await this.#latencies();
    const impact = await super.throwBomb(bomb, dialect);
    const latencies = (await this.#latencies()).sort((a, b) => a - b);
    return { ...impact, healthMs: latencies[Math.floor(latencies.length * 0.99)] ?? 0 };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#poller?.terminate();
    this.#agent.destroy();
    await super[Symbol.asyncDispose]();
  }

  protected async send(message: string, dialect: DialectName): Promise<string> {
    const { text } = await this.#post(message, dialect, { 'mcp-session-id': await this.#session(dialect) });
    // An event stream has each message in a line of its own.
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data);
    return text.startsWith('{') ? text : `[${events.join(',')}]`;
  }

  async #session(dialect: DialectName): Promise<string> {
    const known = this.#sessions.get(dialect);
    if (known !== undefined) return known;
    const { headers } = await this.#post(INITIALIZE, dialect, {});
    const id = String(headers['mcp-session-id']);
    this.#sessions.set(dialect, id);
    return id;
  }

  async #post(body: string, dialect: DialectName, more: Record<string, string>) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': Buffer.byteLength(body),
      ...more,
    };
    const url = new URL(mountOf(dialect), this.#url);
    const request = http.request(url, { method: 'POST', agent: this.#agent, headers, timeout: ANSWER_MS });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { text, headers: response.headers };
  }

  async #latencies(): Promise<number[]> {
    assert(this.#poller !== undefined, 'the server has not been started');
    this.#poller.postMessage('report');
    const [latencies] = await once(this.#poller, 'message');
    return latencies;
  }
}

/** Serves one dialect over stdio. */
export class BombedStdioServer extends BombedServer {
  readonly #lines: string[] = [];
  #pings = 0;

  static async start(dialect: DialectName): Promise<BombedStdioServer> {
    const server = new BombedStdioServer(['workspace'], dialect);
    readline.createInterface({ input: server.child.stdout }).on('line', (line) => server.#lines.push(line));
    server.child.stdin.write(`${INITIALIZE}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`);
    await server.#ping();
    return server;
  }

  protected async send(message: string): Promise<string> {
    this.#lines.length = 0;
    this.child.stdin.write(`${message}\n`);
    await this.#ping();
    const isAnswer = (line: string): boolean =>
      /"id":1[,}]/.test(line.slice(-300)) || /"id":(?:null|1)[,}]/.test(line.slice(0, 300));
    return this.#waitFor((line) => isAnswer(line));
  }

  /** Resolves when everything sent before was read and handled. */
  async #ping(): Promise<void> {
    this.#pings += 1;
    const id = `ping-${this.#pings}`;
    this.child.stdin.write(`{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`);
    await this.#waitFor((line) => line.length < 1_000 && line.includes(`"${id}"`));
  }

  async #waitFor(matches: (line: string) => boolean): Promise<string> {
    const deadline = performance.now() + ANSWER_MS;
    for (;;) {
      const found = this.#lines.find(matches);
      if (found !== undefined) return found;
      assert(performance.now() < deadline && this.child.exitCode === null, 'no answer');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', clientInfo: { name: 'bombs', version: '1' }, capabilities: {} },
});

/** Makes files whose names and contents take long to compare. */
function fillFolder(files: string): void {
  fs.mkdirSync(path.join(files, 'docs'), { recursive: true });
  fs.mkdirSync(path.join(files, 'similar'));
  fs.writeFileSync(path.join(files, 'small'), 'x\n'.repeat(30_000));
  fs.writeFileSync(path.join(files, 'large'), 'b'.repeat(1_000_000));
  for (let index = 0; index < 2_000; index += 1) {
    fs.writeFileSync(path.join(files, 'similar', `${'n'.repeat(236)}${index}`), '');
    if (index < 100) fs.writeFileSync(path.join(files, `${'ab'.repeat(120)}${index}`), '');
  }
}
