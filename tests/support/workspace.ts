import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { type Connection, TRANSPORTS } from './connections.ts';
import type { CallResult } from './dialect-contracts.ts';
import type { LogLine } from './ringfence-process.ts';
import { startServer, type TestServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';
import type { Args, CallOptions } from './tool-client.ts';

/** Matches the version of a file in a result. */
export const VERSION: unknown = expect.stringMatching(/^[0-9a-v]{12}$/);

export interface WorkspaceOptions {
  /** Default: both transports in the legacy era. */
  readonly connections?: readonly Connection[];
  /** Names of roots and what they allow; `workspace` with all tools if left out. */
  readonly roots?: Readonly<Record<string, readonly string[]>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

/**
 * Defines the tests once for every connection, on one server each, whose roots are emptied before every test. After the
 * tests, the log must hold no internal error, and no host path except in lines about violations.
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
 * A running server with a client, and the folders behind its roots. Every answer must keep the dialect's contract, fit the
 * tool's output schema and hold no host path. The methods that look at files use plain `fs`, so they see what the server
 * really did.
 */
export class Workspace {
  /** Holds the folders of the roots and `outside`. */
  readonly base = tempDir();
  readonly #options: WorkspaceOptions;
  readonly #connection: Connection;
  readonly #roots: Readonly<Record<string, readonly string[]>>;
  #server: TestServer | undefined;

  constructor(options: WorkspaceOptions, connection: Connection) {
    this.#options = options;
    this.#connection = connection;
    this.#roots = options.roots ?? { workspace: ['*'] };
    for (const name of [...Object.keys(this.#roots), 'outside']) fs.mkdirSync(path.join(this.base, name));
  }

  get server(): TestServer {
    assert(this.#server !== undefined, 'the server has not been started');
    return this.#server;
  }

  async start(): Promise<void> {
    this.#server = await startServer({
      ...this.#connection,
      roots: Object.entries(this.#roots).map(([name, allowed_tools]) => ({
        name,
        path: path.join(this.base, name),
        allowed_tools,
      })),
      // Waiting for the disk is tested where it is made; here it would only cost time.
      config: { durable_writes: false, ...this.#options.config },
    });
    const checkOutput = await this.#server.outputChecks();
    this.#server.checkAnswers((tool, result) => {
      checkOutput(tool, result);
      assertNoHostPath(result, this.base);
      if (result.isError) assert(!result.text.includes('internal error'), result.text);
    });
  }

  async end(): Promise<void> {
    const logs = this.#server?.logs() ?? [];
    await this.#server?.[Symbol.asyncDispose]();
    fs.rmSync(this.base, { recursive: true, force: true });
    for (const line of logs) assertHarmless(line, this.base);
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

  call(tool: string, args: Args = {}, options?: CallOptions): Promise<CallResult> {
    return this.server.call(tool, args, options);
  }

  /** Returns the structured content of a call that has to succeed. `root` is `workspace` where the arguments name none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  ok(tool: string, args: Args = {}, options?: CallOptions): Promise<any> {
    return this.server.ok(tool, inRoot(tool, args), options);
  }

  /** Returns the text of a call that has to fail. `root` is `workspace` where the arguments name none. */
  fails(tool: string, args: Args = {}, options?: CallOptions): Promise<string> {
    return this.server.fails(tool, inRoot(tool, args), options);
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

  /** Makes a sparse file: it has that size and takes no space on disk. */
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

/** Throws `AssertionError` if an answer shows a path below a host folder or in /proc. */
export function assertNoHostPath({ raw }: CallResult, base: string): void {
  const wire = JSON.stringify(raw);
  assert(!wire.includes(base) && !wire.includes('/proc/'), `a host path is in the answer: ${wire}`);
}

/** Throws `AssertionError` if a log line reports a bug, or shows a path below a host folder other than that of a violation. */
export function assertHarmless(line: LogLine, base: string): void {
  const text = JSON.stringify(line);
  assert.notEqual(line.msg, 'internal error', text);
  const { resolved_path: _, ...rest } = line;
  assert(!JSON.stringify(rest).includes(base), `a host path is in the log: ${text}`);
}

function inRoot(tool: string, args: Args): Args {
  if (tool === 'list_roots' || 'root' in args) return args;
  if (tool !== 'copy' && tool !== 'move') return { root: 'workspace', ...args };
  return { source_root: 'workspace', dest_root: 'workspace', ...args };
}
