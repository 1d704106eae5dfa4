import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { CONNECTIONS, type Connection } from './connections.ts';
import type { CallResult, DialectName, ToolError } from './dialect-contracts.ts';
import { type Answer, type Declares, json, SamplingClient, type Script } from './sampling-client.ts';
import { startServer, type TestServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';
import type { Args, CallOptions } from './tool-client.ts';
import { assertHarmless, assertNoHostPath } from './workspace.ts';

export interface AgentServerOptions {
  /** Default: both transports in both eras. */
  readonly connections?: readonly Connection[];
  /** Keys of the agent root. By default it allows docs/, src/ and README.md and has a timeout of ten seconds. */
  readonly agent?: Args;
  /** Keys of the guide dialect besides its project. */
  readonly guide?: Args;
  /** More keys of the config. */
  readonly config?: Args;
  /** What the client declares about sampling. Default `tools`. */
  readonly declares?: Declares;
}

/** The client's token on HTTP: the server keeps nothing between the calls of a client without identity. */
const TOKEN = 'token-of-the-agent-0123456789abcdef';
const AUTH = { tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN', roots: ['workspace', 'laptop'] }] };

/** A text in every file of these tests, for which the log is searched. */
const CONTENT_MARK = 'kept-private';

/** Returns the content of a file that must not show up in the log. */
export function secret(name: string): string {
  return `${CONTENT_MARK} ${name}\n`;
}

/** Defines the tests once for every connection, on a workspace with the local root `workspace` and the agent root `laptop`. */
export function withAgentRoot(
  options: AgentServerOptions,
  tests: (server: AgentServer<'workspace'>, connection: Connection) => void,
): void {
  overEach('an agent root', options, (connection) => new AgentServer('workspace', options, connection), tests);
}

/** Defines the tests once for every connection, on the guide dialect. */
export function withGuide(
  options: AgentServerOptions,
  tests: (server: GuideServer, connection: Connection) => void,
): void {
  overEach('guide', options, (connection) => new GuideServer(options, connection), tests);
}

function overEach<S extends AgentServer>(
  what: string,
  { connections = CONNECTIONS }: AgentServerOptions,
  make: (connection: Connection) => S,
  tests: (server: S, connection: Connection) => void,
): void {
  describe.each(connections)(`${what}, $transport, $era`, (connection) => {
    const server = make(connection);
    beforeAll(() => server.start());
    afterAll(() => server.end());
    tests(server, connection);
  });
}

/**
 * A running server and the scripted client that is connected to it. Every answer must keep the dialect's contract and hold
 * no host path. At the end, the log must hold no internal error, no host path, no token and no content of a file.
 */
export class AgentServer<D extends DialectName = DialectName> {
  readonly base = tempDir();
  readonly agent: SamplingClient<D>;
  protected readonly options: AgentServerOptions;
  protected readonly connection: Connection;
  readonly #dialect: D;
  #server: TestServer<D> | undefined;

  constructor(dialect: D, options: AgentServerOptions, connection: Connection) {
    this.#dialect = dialect;
    this.options = options;
    this.connection = connection;
    const { declares } = options;
    this.agent = new SamplingClient({ dialect, era: connection.era, ...(declares && { declares }) });
    for (const name of ['workspace', 'project/docs', 'project/src', 'project/tests']) {
      fs.mkdirSync(path.join(this.base, name), { recursive: true });
    }
  }

  get server(): TestServer<D> {
    assert(this.#server !== undefined, 'the server has not been started');
    return this.#server;
  }

  /** Returns a host path below the folder of these tests. */
  host(...names: string[]): string {
    return path.join(this.base, ...names);
  }

  async start(): Promise<void> {
    const { client } = this.agent;
    const command = this.command();
    this.#server = await startServer({
      ...this.connection,
      dialect: this.#dialect,
      client,
      ...(command === undefined ? this.#served() : { args: command }),
    });
    this.#server.checkAnswers((_, result) => {
      assertNoHostPath(result, this.base);
      assert(!result.text.includes('internal error'), result.text);
    });
  }

  /** The arguments of the dialect's own command; undefined to serve a config. */
  protected command(): string[] | undefined {
    return undefined;
  }

  /** The keys of the config that belong to the dialect. */
  protected dialectConfig(): Args {
    return { durable_writes: false };
  }

  #served() {
    const { agent, config } = this.options;
    return {
      token: TOKEN,
      env: { AGENT_TOKEN: TOKEN },
      roots: [{ name: 'workspace', path: this.host('workspace') }, agentRoot(agent)],
      config: {
        log_level: 'trace',
        ...this.dialectConfig(),
        ...(this.connection.transport === 'http' && { auth: AUTH }),
        ...config,
      },
    };
  }

  async end(): Promise<void> {
    const server = this.#server;
    const logs = server?.logs() ?? [];
    await server?.[Symbol.asyncDispose]();
    fs.rmSync(this.base, { recursive: true, force: true });
    for (const line of logs) {
      assertHarmless(line, this.base);
      const text = JSON.stringify(line);
      assert(!text.includes(CONTENT_MARK), `the content of a file is in the log: ${text}`);
    }
    assert(!server?.stderr().includes(TOKEN), 'the token is in the log');
  }

  /** Answers every sampling request from now on in this way. */
  answer(script: Script | Answer): void {
    this.agent.answer(script);
  }

  /** Answers every sampling request from now on with a file, in the form that the prompt asks for. */
  answerFile(content: string, more: Args = {}): void {
    this.agent.answer(json({ content, ...more }));
  }

  call(tool: string, args: Args = {}, options: CallOptions = {}): Promise<CallResult> {
    return this.server.call(tool, args, options);
  }

  /** Returns the structured content of a call that has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  ok(tool: string, args: Args = {}, options?: CallOptions): Promise<any> {
    return this.server.ok(tool, args, options);
  }

  /** Returns the error of a call that has to fail. */
  fails<T extends string>(tool: T, args: Args = {}, options?: CallOptions): Promise<ToolError<D, T>> {
    return this.server.fails(tool, args, options);
  }

  /** Returns how many sampling requests come while some work is done. */
  async requests(work: () => Promise<unknown>): Promise<number> {
    return (await this.agent.askedBy(work)).asked.length;
  }
}

/** A server of the guide dialect: `ringfence guide` over stdio where no option needs a config, else a config with the guide. */
export class GuideServer extends AgentServer<'guide'> {
  constructor(options: AgentServerOptions, connection: Connection) {
    super('guide', options, connection);
  }

  protected override command(): string[] | undefined {
    const { guide, config } = this.options;
    const needsConfig = this.connection.transport === 'http' || guide !== undefined || config !== undefined;
    return needsConfig ? undefined : ['--project', this.host('project'), '--log-level', 'trace'];
  }

  protected override dialectConfig(): Args {
    return { dialects: { guide: { project: this.host('project'), ...this.options.guide } } };
  }

  /** Returns the content of a cached file, read as a resource. Rejects if there is none. */
  async resource(file: string): Promise<string | Buffer> {
    const { contents } = await this.agent.client.readResource({ uri: `agent://${file}` });
    const [first] = contents as ({ text?: string; blob?: string } | undefined)[];
    return first?.text ?? Buffer.from(first?.blob ?? '', 'base64');
  }
}

function agentRoot(agent: Args | undefined) {
  return {
    name: 'laptop',
    agent: { allowed_paths: ['docs/', 'src/', 'README.md'], timeout: 10, ...agent },
    allowed_tools: ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'],
  };
}
