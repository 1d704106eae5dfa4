import { pino } from 'pino';
import { classic } from '../../src/dialects/classic/index.ts';
import { type BackendName, chooseBackend, Root } from '../../src/fence/index.ts';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { FairScheduler } from '../../src/runtime/fair-scheduler.ts';
import { SearchPool } from '../../src/search/pool/search-pool.ts';
import { anonymousClient } from '../../src/server/call/peer.ts';
import { RunningCalls } from '../../src/server/call/running-calls.ts';
import type { Service } from '../../src/server/call/service.ts';
import { ToolCaller } from '../../src/server/call/tool-caller.ts';
import { describeServer } from '../../src/server/description/describe-server.ts';
import { toResult } from '../../src/server/protocol/sdk/sdk-server.ts';
import { CAPABILITIES, type Capability } from '../../src/tools/capabilities.ts';
import { Roots } from '../../src/tools/roots.ts';

const ROOT = 'home';

/** Shared by all tests of a file: starting a worker costs more than most of them. */
const POOL = new SearchPool({ size: 1 });

// biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
type Fields = any;

export interface ClassicError {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly path: string; readonly operation: string; readonly reason?: string };
}

export interface ClassicOptions {
  readonly backend?: BackendName;
  readonly allowed?: readonly Capability[];
  /** Bytes, as FS_MAX_FILE_SIZE sets it. */
  readonly maxFileSize?: number;
  /** Seconds, as FS_REQUEST_TIMEOUT sets it. */
  readonly requestTimeout?: number;
}

/** The classic dialect on a sandbox, called the way every transport calls it. */
export class Classic extends Sandbox {
  /** The log, a line per entry. */
  readonly log: Fields[] = [];
  readonly #caller: ToolCaller;
  readonly #service: Service;
  readonly #home: Root;
  readonly #roots: Roots;

  constructor({ backend = 'openat2', allowed = CAPABILITIES, ...limits }: ClassicOptions = {}) {
    super(backend);
    this.#home = Root.open(ROOT, this.inside, chooseBackend(backend));
    this.#roots = new Roots([{ root: this.#home, allowed: new Set(allowed) }]);
    const service: Service = {
      dialect: classic,
      description: describeServer(classic),
      boundRoot: ROOT,
      roots: this.#roots,
      search: POOL,
      limits: { maxFullReadSize: limits.maxFileSize ?? 10 * 1024 * 1024 },
      durable: false,
      requestTimeout: limits.requestTimeout ?? 30,
      logger: pino(
        { base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
        { write: (line: string) => void this.log.push(JSON.parse(line)) },
      ),
      running: new RunningCalls(),
      scheduler: new FairScheduler(),
      close: async () => {},
    };
    this.#service = service;
    this.#caller = new ToolCaller(service);
  }

  /** What the log warns of. */
  get warnings(): Fields[] {
    return this.log.filter(({ level }) => level === 'warn');
  }

  /** The tools as `tools/list` answers them, by name. */
  static listed(): Record<string, Fields> {
    return Object.fromEntries(describeServer(classic).tools.map((tool) => [tool.name, tool]));
  }

  /** The result of a call that has to succeed. */
  async ok(tool: string, args: object = {}): Promise<Fields> {
    const { isError, structuredContent, content } = await this.raw(tool, args);
    const [block, ...more] = content as { type: string; text: string }[];
    if (isError || more.length > 0) throw new Error(`${tool} failed: ${block?.text}`);
    const parsed: unknown = JSON.parse(block?.text ?? '');
    if (JSON.stringify(parsed) !== JSON.stringify(structuredContent)) throw new Error('text and structure differ');
    const found = classic.tools.find(({ name }) => name === tool);
    found?.output.strict().parse(structuredContent);
    return structuredContent;
  }

  /** The error of a call that has to fail. */
  async error(tool: string, args: object = {}): Promise<ClassicError> {
    const { isError, structuredContent, content } = await this.raw(tool, args);
    const [block, ...more] = content as { type: string; text: string }[];
    if (!isError || structuredContent !== undefined || more.length > 0 || block?.type !== 'text') {
      throw new Error(`${tool} did not fail as it should: ${block?.text}`);
    }
    const { error, ...rest } = JSON.parse(block.text) as { error: ClassicError };
    if (Object.keys(rest).length > 0) throw new Error('more than an error');
    return error;
  }

  /** The code a call fails with, or `ok`. */
  async code(tool: string, args: object = {}): Promise<string> {
    const { isError } = await this.raw(tool, args);
    return isError ? (await this.error(tool, args)).code : 'ok';
  }

  async raw(tool: string, args: object, signal = new AbortController().signal): Promise<Fields> {
    const running = this.#service.running.start();
    signal.addEventListener('abort', () => running.cancel());
    const json = await this.#caller.call({
      name: tool,
      args: { ...args },
      client: anonymousClient(),
      roots: this.#roots,
      sample: undefined,
      running,
      progress: () => {},
    });
    // The line in the log comes after the answer.
    await new Promise((resolve) => setImmediate(resolve));
    return toResult(json);
  }

  override [Symbol.dispose](): void {
    this.#home[Symbol.dispose]();
    super[Symbol.dispose]();
  }
}
