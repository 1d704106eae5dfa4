import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { type Answer, type Declares, json, SamplingClient, type Script } from './sampling-client.ts';
import {
  type CallOptions,
  type CallResult,
  type LogLine,
  type Ringfence,
  startRingfence,
  startStdioCommand,
  tempDir,
} from './server.ts';
import { CONNECTIONS, type Connection } from './workspace.ts';

type Args = Readonly<Record<string, unknown>>;

export interface AgentServerOptions {
  /** Which connections; all four if left out. */
  readonly connections?: readonly Connection[];
  /** Keys of the agent root, over `allowed_paths: [docs/, src/, README.md]` and a timeout of ten seconds. */
  readonly agent?: Args;
  /** Keys of the guide dialect, over its project. */
  readonly guide?: Args;
  /** More keys of the config. */
  readonly config?: Args;
  /** What the client declares; `tools` if left out. */
  readonly declares?: Declares;
}

/** One connection of each transport and each era, for what the others could hardly change. */
export const TWO_CONNECTIONS: readonly Connection[] = [
  { transport: 'stdio', era: 'legacy' },
  { transport: 'http', era: 'modern' },
];

/** On HTTP the client has a token, since a client without identity has nothing kept for it between calls. */
const TOKEN = 'token-of-the-agent-0123456789abcdef';
const AUTH = { tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN', roots: ['workspace', 'laptop'] }] };

/** What stands in every file of these tests, so that the log can be searched for it. */
const CONTENT_MARK = 'kept-private';

/** A text that must not be found in the log. */
export function secret(name: string): string {
  return `${CONTENT_MARK} ${name}\n`;
}

/** Defines the tests once for every connection, on a workspace with the local root `workspace` and the agent root `laptop`. */
export function withAgentRoot(
  options: AgentServerOptions,
  tests: (server: AgentServer, connection: Connection) => void,
): void {
  overEach('an agent root', options, (connection) => new AgentServer(options, connection), tests);
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
 * A running server and the scripted client that is connected to it. Every answer is checked: its shape, and that no host
 * path is in it. At the end, the log must hold no internal error, no host path and nothing of what was in files.
 */
export class AgentServer {
  readonly base = tempDir();
  readonly agent: SamplingClient;
  protected readonly options: AgentServerOptions;
  protected readonly connection: Connection;
  #running: Ringfence | undefined;

  constructor(options: AgentServerOptions, connection: Connection) {
    this.options = options;
    this.connection = connection;
    const { declares } = options;
    this.agent = new SamplingClient({ era: connection.era, ...(declares && { declares }) });
    for (const name of ['workspace', 'project/docs', 'project/src', 'project/tests']) {
      fs.mkdirSync(path.join(this.base, name), { recursive: true });
    }
  }

  get server(): Ringfence {
    assert(this.#running !== undefined, 'the server has not been started');
    return this.#running;
  }

  /** A host path. */
  host(...names: string[]): string {
    return path.join(this.base, ...names);
  }

  async start(): Promise<void> {
    this.#running = await this.launch();
  }

  protected launch(): Promise<Ringfence> {
    return startRingfence({
      ...this.connection,
      client: this.agent.client,
      token: TOKEN,
      env: { AGENT_TOKEN: TOKEN },
      roots: [{ name: 'workspace', path: this.host('workspace') }, agentRoot(this.options.agent)],
      config: {
        log_level: 'trace',
        durable_writes: false,
        ...(this.connection.transport === 'http' && { auth: AUTH }),
        ...this.options.config,
      },
    });
  }

  async end(): Promise<void> {
    const running = this.#running;
    const logs = running?.logs() ?? [];
    await running?.[Symbol.asyncDispose]();
    fs.rmSync(this.base, { recursive: true, force: true });
    for (const line of logs) assertHarmless(line, this.base);
    assert(!running?.stderr().includes(TOKEN), 'the token is in the log');
  }

  /** Answers every sampling request from now on in this way. */
  answer(script: Script | Answer): void {
    this.agent.answer(script);
  }

  /** Answers with a file in the form that is asked for. */
  answerFile(content: string, more: Args = {}): void {
    this.agent.answer(json({ content, ...more }));
  }

  async call(tool: string, args: Args = {}, options: CallOptions = {}): Promise<CallResult> {
    const result = await this.agent.call(tool, args, options);
    assertAnswer(tool, result, this.base);
    return result;
  }

  /** The structured content of a call that must succeed, and how often the client was asked for it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  async ok(tool: string, args: Args = {}, options?: CallOptions): Promise<any> {
    const result = await this.call(tool, args, options);
    assert(!result.isError, `${tool} ${JSON.stringify(args).slice(0, 500)} failed: ${result.text}`);
    return result.structured;
  }

  /** The text of a call that must fail. */
  async fails(tool: string, args: Args = {}, options?: CallOptions): Promise<string> {
    const result = await this.call(tool, args, options);
    assert(result.isError, `${tool} ${JSON.stringify(args).slice(0, 500)} succeeded: ${result.text.slice(0, 500)}`);
    return result.text;
  }

  /** The Result of a guide tool that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  done(tool: string, args: Args): Promise<any> {
    return this.ok(tool, args);
  }

  /** The Result of a guide tool that must fail. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  async refused(tool: string, args: Args): Promise<any> {
    return JSON.parse(await this.fails(tool, args));
  }

  /** How many sampling requests some work leads to. */
  async requests(work: () => Promise<unknown>): Promise<number> {
    return (await this.agent.askedBy(work)).asked.length;
  }
}

/** The same on the guide dialect: by its own command on stdio, at `/mcp/guide` over HTTP. */
export class GuideServer extends AgentServer {
  protected override launch(): Promise<Ringfence> {
    const project = this.host('project');
    const { guide, config } = this.options;
    if (this.connection.transport === 'stdio' && guide === undefined && config === undefined) {
      return startStdioCommand({
        args: ['guide', '--project', project, '--log-level', 'trace'],
        client: this.agent.client,
      });
    }
    return startRingfence({
      ...this.connection,
      client: this.agent.client,
      token: TOKEN,
      env: { AGENT_TOKEN: TOKEN },
      path: '/mcp/guide',
      roots: [{ name: 'workspace', path: this.host('workspace') }, agentRoot(undefined)],
      config: {
        log_level: 'trace',
        dialects: { guide: { project, ...guide } },
        ...(this.connection.transport === 'http' && { auth: AUTH }),
        ...config,
      },
    });
  }

  /** What a cached file reads as, taken as a resource. Rejects if there is none. */
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

const ERROR_TYPES = ['security', 'validation', 'not_found', 'permission', 'timeout', 'unsupported', 'system'];
const RESULT_FIELDS = ['success', 'data', 'message', 'warnings', 'stats', 'error', 'error_type', 'instruction'];

/** What holds for every answer of every tool. */
function assertAnswer(tool: string, { isError, text, structured, raw }: CallResult, base: string): void {
  const sink = JSON.stringify(raw);
  assert(!sink.includes(base) && !sink.includes('/proc/'), `a host path is in the answer: ${sink}`);
  assert.equal(raw.content.length, 1);
  assert.equal(raw.content[0].type, 'text');
  if (isError) assert.equal(structured, undefined, 'an error carries text only');
  assert(!text.includes('internal error'), text);
  if (!tool.startsWith('guide_')) return;
  const result = JSON.parse(text);
  if (!isError) assert.deepEqual(result, structured);
  assert.deepEqual(
    Object.keys(result).filter((key) => !RESULT_FIELDS.includes(key)),
    [],
  );
  assert.equal(result.success, !isError);
  assert.equal(typeof result.stats, 'object', `there are no stats: ${text}`);
  if (isError) {
    assert(ERROR_TYPES.includes(result.error_type), `unknown error_type: ${text}`);
    assert(result.error.length > 0 && result.instruction.length > 0, text);
    assert(!('data' in result), 'a failure has no data');
  } else {
    assert(typeof result.data === 'object' && result.data !== null, text);
    assert(!('error' in result || 'error_type' in result), text);
  }
}

function assertHarmless(line: LogLine, base: string): void {
  const text = JSON.stringify(line);
  assert.notEqual(line.msg, 'internal error', text);
  assert(!text.includes(CONTENT_MARK), `what is in a file is in the log: ${text}`);
  const { resolved_path: _, ...rest } = line;
  assert(!JSON.stringify(rest).includes(base), `a host path is in the log: ${text}`);
}
