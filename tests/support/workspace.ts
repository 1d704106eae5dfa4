import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import * as z from 'zod';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import {
  type CallOptions,
  type CallResult,
  type Era,
  type LogLine,
  type Ringfence,
  startRingfence,
  type TransportName,
  tempDir,
} from './server.ts';

export interface Connection {
  readonly transport: TransportName;
  readonly era: Era;
}

/** Both transports, with the handshake that most clients in use still speak. */
export const TRANSPORTS: readonly Connection[] = [
  { transport: 'http', era: 'legacy' },
  { transport: 'stdio', era: 'legacy' },
];

/** Both transports in both eras of the protocol. */
export const CONNECTIONS: readonly Connection[] = [
  ...TRANSPORTS,
  { transport: 'http', era: 'modern' },
  { transport: 'stdio', era: 'modern' },
];

export interface WorkspaceOptions {
  /** Default: both transports in the legacy era. */
  readonly connections?: readonly Connection[];
  /** Names of roots and what they allow; `workspace` with all tools if left out. */
  readonly roots?: Readonly<Record<string, readonly string[]>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * Defines the tests once for every connection: one server each, whose roots are emptied before every test. When the
 * tests are over, the log must hold no internal error and no host path outside of what is logged about violations.
 */
export function inWorkspace(options: WorkspaceOptions, tests: (w: Workspace, connection: Connection) => void): void {
  describe.each(options.connections ?? TRANSPORTS)('$transport, $era', (connection) => {
    const workspace = new Workspace(options, connection);
    beforeAll(() => workspace.start());
    beforeEach(() => workspace.clear());
    afterAll(() => workspace.end());
    tests(workspace, connection);
  });
}

/**
 * A running server with a client, and the folders behind its roots. `call` and what builds on it check every answer: its
 * shape, its structured content against the tool's output schema, and that no host path is in it. The methods that look at
 * files use plain `fs`, so they see what the server really did.
 */
export class Workspace {
  /** Holds the folders of the roots and `outside`. */
  readonly base = tempDir();
  readonly #options: WorkspaceOptions;
  readonly #connection: Connection;
  readonly #roots: Readonly<Record<string, readonly string[]>>;
  readonly #outputs = new Map<string, z.ZodType>();
  #server: Ringfence | undefined;

  constructor(options: WorkspaceOptions, connection: Connection) {
    this.#options = options;
    this.#connection = connection;
    this.#roots = options.roots ?? { workspace: ['*'] };
    for (const name of [...Object.keys(this.#roots), 'outside']) fs.mkdirSync(path.join(this.base, name));
  }

  get server(): Ringfence {
    assert(this.#server !== undefined, 'the server has not been started');
    return this.#server;
  }

  async start(): Promise<void> {
    this.#server = await startRingfence({
      ...this.#connection,
      roots: Object.entries(this.#roots).map(([name, allowed_tools]) => ({
        name,
        path: path.join(this.base, name),
        allowed_tools,
      })),
      // Waiting for the disk is tested where it is made; here it would only cost time.
      config: { durable_writes: false, ...this.#options.config },
    });
    const { tools } = await this.#server.client.listTools();
    for (const { name, outputSchema } of tools) this.#outputs.set(name, z.fromJSONSchema(outputSchema as never));
  }

  async end(): Promise<void> {
    const logs = this.#server?.logs() ?? [];
    await this.#server?.[Symbol.asyncDispose]();
    fs.rmSync(this.base, { recursive: true, force: true });
    for (const line of logs) this.#assertHarmless(line);
  }

  #assertHarmless(line: LogLine): void {
    assert.notEqual(line.msg, 'internal error', JSON.stringify(line));
    const { resolved_path: _, ...rest } = line;
    assert(!JSON.stringify(rest).includes(this.base), `a host path is in the log: ${JSON.stringify(line)}`);
  }

  /** Empties every root and the folder outside. */
  clear(): void {
    for (const folder of fs.readdirSync(this.base)) {
      for (const name of fs.readdirSync(path.join(this.base, folder), 'buffer')) {
        const host = Buffer.concat([Buffer.from(`${path.join(this.base, folder)}/`), name]);
        fs.rmSync(host, { recursive: true, force: true });
      }
    }
  }

  async call(tool: string, args: Args = {}, options?: CallOptions): Promise<CallResult> {
    const result = await this.server.call(tool, args, options);
    const { content, structuredContent } = result.raw;
    const sink = JSON.stringify(result.raw);
    assert(!sink.includes(this.base) && !sink.includes('/proc/'), `a host path is in the answer: ${sink}`);
    assert.equal(content.length, 1);
    assert.equal(content[0].type, 'text');
    if (result.isError) {
      assert.equal(structuredContent, undefined, 'an error carries text only');
      assert(!result.text.includes('internal error'), result.text);
      assert(!/[\n\r]/.test(result.text), `an error is one line: ${result.text}`);
    } else {
      this.#outputs.get(tool)?.parse(structuredContent);
      if (tool !== 'read_file') assert.deepEqual(JSON.parse(result.text), structuredContent);
    }
    return result;
  }

  /** The structured content of a call that must succeed. `root` is `workspace` where the arguments name none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  async ok(tool: string, args: Args = {}, options?: CallOptions): Promise<any> {
    const result = await this.call(tool, inRoot(tool, args), options);
    assert(!result.isError, `${tool} ${JSON.stringify(args).slice(0, 500)} failed: ${result.text}`);
    return result.structured;
  }

  /** The text of a call that must fail. */
  async fails(tool: string, args: Args = {}, options?: CallOptions): Promise<string> {
    const result = await this.call(tool, inRoot(tool, args), options);
    assert(result.isError, `${tool} ${JSON.stringify(args).slice(0, 500)} succeeded: ${result.text.slice(0, 500)}`);
    return result.text;
  }

  host(name: string, root = 'workspace'): string {
    return `${path.join(this.base, root)}/${name}`;
  }

  /** Puts a file there, with the folders above it. */
  file(name: string, content: string | Uint8Array = '', root?: string): string {
    const host = this.host(name, root);
    fs.mkdirSync(path.dirname(host), { recursive: true });
    fs.writeFileSync(host, content);
    return host;
  }

  /** A file of that size without anything in it, which takes no space. */
  sparse(name: string, size: number, root?: string): string {
    const host = this.file(name, '', root);
    fs.truncateSync(host, size);
    return host;
  }

  folder(name: string, root?: string): string {
    const host = this.host(name, root);
    fs.mkdirSync(host, { recursive: true });
    return host;
  }

  link(target: string, name: string, root?: string): string {
    const host = this.host(name, root);
    fs.mkdirSync(path.dirname(host), { recursive: true });
    fs.symlinkSync(target, host);
    return host;
  }

  bytes(name: string, root?: string): Buffer {
    return fs.readFileSync(this.host(name, root));
  }

  text(name: string, root?: string): string {
    return this.bytes(name, root).toString();
  }

  exists(name: string, root?: string): boolean {
    return fs.lstatSync(this.host(name, root), { throwIfNoEntry: false }) !== undefined;
  }

  /** Every entry of a root, temporary ones too: folders end in `/`, links show where they lead. */
  tree(root = 'workspace'): string[] {
    return treeOf(path.join(this.base, root));
  }
}

function inRoot(tool: string, args: Args): Args {
  if (tool === 'list_roots' || 'root' in args) return args;
  if (tool !== 'copy' && tool !== 'move') return { root: 'workspace', ...args };
  return { source_root: 'workspace', dest_root: 'workspace', ...args };
}
