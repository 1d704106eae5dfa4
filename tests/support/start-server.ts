import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { ChildTransport } from './child-transport.ts';
import type { Connection } from './connections.ts';
import type { DialectName } from './dialect-contracts.ts';
import { type LogLine, ProcessLog, spawnRingfence, writeConfig } from './ringfence-process.ts';
import { connectHttp, type HttpClientOptions, mountOf, newClient, ToolClient } from './tool-client.ts';

interface RootSpec {
  readonly name: string;
  /** A folder of this machine; a root of kind `agent` has none. */
  readonly path?: string;
  readonly agent?: Readonly<Record<string, unknown>>;
  /** All tools if left out. */
  readonly allowed_tools?: readonly string[];
  /** What a person has to agree to. */
  readonly confirm?: readonly string[];
}

export interface ServerOptions<D extends DialectName = 'workspace'> extends Partial<Connection> {
  /** The dialect that the client speaks. Default `workspace`. */
  readonly dialect?: D;
  /**
   * The roots of a config file, with which `ringfence serve` is started over HTTP (the default) and `ringfence stdio` over
   * stdio. Without roots, the command of the dialect is started over stdio: `ringfence memory`, `classic` or `guide`.
   */
  readonly roots?: readonly RootSpec[];
  /** More keys of the config file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** How many processes serve over HTTP; by default the server itself does. */
  readonly processes?: number;
  /** Arguments of the command, where there are no roots. */
  readonly args?: readonly string[];
  /** The program that Node runs with `args` over stdio; `ringfence` from dist/ if left out. */
  readonly program?: string;
  readonly cwd?: string;
  /** Run the server as nobody. */
  readonly unprivileged?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The bearer token that the client sends over HTTP. */
  readonly token?: string;
  /** The client to connect, whose own era counts; a new one if left out. */
  readonly client?: Client;
}

/**
 * Starts a server in a process of its own, from dist/, and connects a client to it. Rejects with the server's log if that
 * fails. Dispose of the server with `await using`.
 */
export async function startServer<D extends DialectName = 'workspace'>(
  options: ServerOptions<D>,
): Promise<TestServer<D>> {
  const {
    dialect = 'workspace' as D,
    era = 'legacy',
    client = newClient(era),
    program,
    env,
    cwd,
    token,
    unprivileged = false,
  } = options;
  const { args, config } = commandLine(options);
  if (unprivileged && config !== undefined) fs.chmodSync(path.dirname(config), 0o755);
  const child = spawnRingfence(args, { program, env, cwd, unprivileged });
  const log = new ProcessLog(child);
  try {
    const url = options.roots === undefined || options.transport === 'stdio' ? '' : await listening(child, log);
    if (url === '') await client.connect(new ChildTransport(child));
    else await connectHttp(url, { dialect, token, client });
    return new TestServer({ dialect, client, child, log, config, url: url && new URL(mountOf(dialect), url).href });
  } catch (error) {
    child.kill();
    throw new Error(`the server did not start:\n${log.text}`, { cause: error });
  }
}

/** Resolves with the address that a server reports once it listens. */
async function listening(child: ChildProcessWithoutNullStreams, log: ProcessLog): Promise<string> {
  child.stdout.resume();
  return (await log.waitFor(({ msg }) => msg === 'listening')).url;
}

interface CommandLine {
  readonly args: readonly string[];
  /** The config file that was written for it. */
  readonly config?: string;
}

function commandLine(options: ServerOptions<DialectName>): CommandLine {
  const { transport, dialect = 'workspace', roots, args = [], program } = options;
  assert(roots !== undefined || transport !== 'http', 'over HTTP, roots are needed');
  if (program !== undefined) return { args };
  if (roots === undefined) return { args: [dialect === 'workspace' ? 'stdio' : dialect, ...args] };
  const all = roots.map((root) => ({ ...root, allowed_tools: [...(root.allowed_tools ?? ['*'])] }));
  const config = writeConfig({ host: '127.0.0.1', port: 0, ...options.config, roots: all });
  const processes = options.processes === undefined ? [] : ['--processes', `${options.processes}`];
  return { args: [transport === 'stdio' ? 'stdio' : 'serve', '--config', config, ...processes], config };
}

interface Parts<D extends DialectName> {
  readonly dialect: D;
  readonly client: Client;
  readonly child: ChildProcessWithoutNullStreams;
  readonly log: ProcessLog;
  readonly config?: string | undefined;
  readonly url: string;
}

/** A server process with a real client connected to it. */
export class TestServer<D extends DialectName = 'workspace'> extends ToolClient<D> {
  /** Where the client connected to; empty on stdio. */
  readonly url: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown>;
  readonly #log: ProcessLog;
  readonly #config: string | undefined;

  constructor({ dialect, client, child, log, config, url }: Parts<D>) {
    super(dialect, client);
    this.url = url;
    this.#child = child;
    this.#closed = once(child, 'close');
    this.#log = log;
    this.#config = config;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The process ids of its workers, where several processes serve. */
  workers(): number[] {
    const { stdout } = spawnSync('pgrep', ['-P', `${this.pid}`], { encoding: 'utf8' });
    return stdout.split('\n').filter(Boolean).map(Number);
  }

  /** The path of the config file that was written for it. */
  get config(): string {
    return this.#config ?? '';
  }

  /** Sends the server a signal. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Connects one more client over HTTP. */
  connect<E extends DialectName = 'workspace'>(options: HttpClientOptions<E> = {}): Promise<ToolClient<E>> {
    return connectHttp(this.url, options);
  }

  /** The log so far. A call's line may come a moment after its answer: `waitForLog` waits for it. */
  logs(): LogLine[] {
    return this.#log.lines();
  }

  /** Resolves with the first line of the log that matches. Rejects after 15 s, or once the server has ended without one. */
  waitForLog(matches: (line: LogLine) => boolean): Promise<LogLine> {
    return this.#log.waitFor(matches);
  }

  /** Everything that the server wrote to stderr so far. */
  stderr(): string {
    return this.#log.text;
  }

  /** Ends the server with a signal and resolves with its exit code, null if the signal killed it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.#closed;
    return this.#child.exitCode;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.stop();
    if (this.#config !== undefined) fs.rmSync(path.dirname(this.#config), { recursive: true, force: true });
  }
}
