import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import type { BackendName } from '../../src/fence/index.ts';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import type { Capability } from '../../src/tools/capabilities.ts';
import type { CallResult, ToolError } from './dialect-contracts.ts';
import type { LogLine } from './ringfence-process.ts';
import { startServer, type TestServer } from './start-server.ts';
import type { Args } from './tool-client.ts';

/** The dialects whose tools name no root, because they are bound to one. */
type BoundDialect = 'memory' | 'classic';

export interface BoundServerOptions {
  /** The backend of the fence; the strongest that this machine supports if left out. */
  readonly fence?: BackendName;
  readonly env?: Readonly<Record<string, string>>;
  /** The tools that the root allows; all of them if left out. The commands have no such setting, so a config is served. */
  readonly allowed?: readonly Capability[];
  /** Keys of a config file, which is served over HTTP in place of the dialect's command. */
  readonly config?: Args;
}

/** The variable by which each command takes its root. */
const ROOT_VARIABLE: Readonly<Record<BoundDialect, string>> = { memory: 'BASE_PATH', classic: 'FS_SERVER_ROOT' };

/** A server of a bound dialect on a sandbox's folder `inside`. Dispose of it with `await using`. */
export class BoundServer<D extends BoundDialect> extends Sandbox implements AsyncDisposable {
  #server: TestServer<D> | undefined;

  /** Starts the command of a dialect. Every success is checked against the output schema that the server lists. */
  static async start<D extends BoundDialect>(dialect: D, options: BoundServerOptions = {}): Promise<BoundServer<D>> {
    const { fence, env = {}, allowed, config } = options;
    const bound = new BoundServer<D>(fence ?? 'openat2');
    const allowed_tools = allowed && { allowed_tools: allowed };
    const server = await startServer({
      dialect,
      env: { [ROOT_VARIABLE[dialect]]: bound.inside, ...(fence && { RINGFENCE_FENCE: fence }), ...env },
      ...((allowed || config) && {
        roots: [{ name: 'home', path: bound.inside, ...allowed_tools }],
        config: { dialects: { [dialect]: { root: 'home' } }, ...config },
      }),
    });
    server.checkAnswers(await server.outputChecks());
    bound.#server = server;
    return bound;
  }

  get server(): TestServer<D> {
    assert(this.#server !== undefined, 'the server has not been started');
    return this.#server;
  }

  get client(): Client {
    return this.server.client;
  }

  call(tool: string, args: Args = {}): Promise<CallResult> {
    return this.server.call(tool, args);
  }

  /** Returns the structured content of a call that has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  ok(tool: string, args: Args = {}): Promise<any> {
    return this.server.ok(tool, args);
  }

  /** Returns the error of a call that has to fail. */
  fails(tool: string, args: Args = {}): Promise<ToolError<D>> {
    return this.server.fails(tool, args);
  }

  /** Returns the code of the error that a call fails with, or `ok`. */
  async code(tool: string, args: Args = {}): Promise<string> {
    const result = await this.server.call(tool, args);
    return result.isError ? this.server.errorOf(tool, result).code : 'ok';
  }

  /** The log lines of the calls so far, once there are so many of them. */
  async callLogs(count: number): Promise<LogLine[]> {
    const calls = () => this.server.logs().filter(({ outcome }) => outcome !== undefined);
    await this.server.waitForLog(() => calls().length >= count);
    return calls();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this[Symbol.dispose]();
  }
}
