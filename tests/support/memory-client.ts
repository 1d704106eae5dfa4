import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import pino from 'pino';
import { configFromDirs } from '../../src/config/config-from-dirs.ts';
import { memory } from '../../src/dialects/memory/index.ts';
import { chooseBackend } from '../../src/fence/index.ts';
import { processPeer } from '../../src/server/call/peer.ts';
import { openService } from '../../src/server/open-service.ts';
import { sdkServerFactory } from '../../src/server/protocol/sdk/sdk-server.ts';
import type { Capability } from '../../src/tools/capabilities.ts';
import { ChildTransport } from './child-transport.ts';
import { BIN, type CallResult, callTool, tempDir } from './server.ts';

export interface MemoryOptions {
  /** A new temporary folder if left out. */
  readonly base?: string;
  /** Everything if left out. */
  readonly allowed?: readonly Capability[];
  readonly maxFullReadSize?: number;
}

/** The memory dialect with a real client at the other end of the protocol. Dispose of it with `await using`. */
export interface MemoryServer extends AsyncDisposable {
  readonly client: Client;
  /** The base folder on the host. */
  readonly base: string;
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<CallResult>;
  /** Calls a tool that has to work. */
  done(tool: string, args: Readonly<Record<string, unknown>>): Promise<CallResult>;
  /** Calls a tool that has to fail, and returns the error it answered. */
  fails(tool: string, args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
}

/** Starts `ringfence memory` on a folder; with options that it has no setting for, serves the same in this process. */
export async function openMemory(options: MemoryOptions = {}): Promise<MemoryServer> {
  const base = options.base ?? tempDir('ringfence-memory-');
  const client = new Client({ name: 'ringfence-tests', version: '0.0.0' });
  const own = options.allowed !== undefined || options.maxFullReadSize !== undefined;
  const stop = own ? await serveHere(client, base, options) : await startProcess(client, base);
  return assemble(client, base, async () => {
    await client.close();
    await stop();
    if (options.base === undefined) fs.rmSync(base, { recursive: true, force: true });
  });
}

type Stop = () => Promise<unknown>;

async function startProcess(client: Client, base: string): Promise<Stop> {
  const child = spawn(process.execPath, [BIN, 'memory'], { env: { ...process.env, BASE_PATH: base } });
  const closed = once(child, 'close');
  // Read, or a full pipe would stop the server.
  child.stderr.resume();
  await client.connect(new ChildTransport(child));
  return async () => {
    child.kill();
    await closed;
  };
}

async function serveHere(client: Client, base: string, { allowed, maxFullReadSize }: MemoryOptions): Promise<Stop> {
  const config = configFromDirs([base]);
  const roots = config.roots.map((root) => ({ ...root, name: 'memory', allowed: allowed ?? root.allowed }));
  const service = openService({
    config: { ...config, maxFullReadSize: maxFullReadSize ?? config.maxFullReadSize, roots },
    dialect: memory,
    boundRoot: 'memory',
    backend: chooseBackend(),
    logger: pino({ level: 'silent' }),
  });
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  await sdkServerFactory(service)(processPeer(service.roots), 'legacy').connect(serverEnd);
  await client.connect(clientEnd);
  return () => service.close();
}

/** Wraps a client of a memory server, however it was started. */
function assemble(client: Client, base: string, close: () => Promise<void>): MemoryServer {
  const call: MemoryServer['call'] = (tool, args) => callTool(client, { tool, args });
  return {
    client,
    base,
    call,
    done: async (tool, args) => {
      const result = await call(tool, args);
      if (result.isError) throw new Error(`${tool} failed: ${result.text}`);
      return result;
    },
    fails: async (tool, args) => {
      const result = await call(tool, args);
      if (!result.isError) throw new Error(`${tool} worked: ${result.text}`);
      if (result.structured !== undefined || result.raw.content.length !== 1) throw new Error('an error is one text');
      return JSON.parse(result.text) as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: close,
  };
}
