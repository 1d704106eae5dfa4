import fs from 'node:fs';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import pino from 'pino';
import { configFromDirs } from '../../src/config/index.ts';
import { memory } from '../../src/dialects/memory/index.ts';
import { chooseBackend } from '../../src/fence/index.ts';
import { mcpServerFactory } from '../../src/server/mcp-server.ts';
import { openService } from '../../src/server/service.ts';
import type { Capability } from '../../src/tools/capabilities.ts';
import type { Dialect } from '../../src/tools/dialect.ts';
import { type CallResult, callTool, tempDir } from './server.ts';

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

/** Serves the memory dialect on a folder in this process. */
export async function openMemory(options: MemoryOptions = {}): Promise<MemoryServer> {
  const base = options.base ?? tempDir('ringfence-memory-');
  const config = configFromDirs([base]);
  const [root] = config.roots;
  if (root === undefined) throw new Error('no root');
  const service = openService({
    config: {
      ...config,
      maxFullReadSize: options.maxFullReadSize ?? 100 * 1024 * 1024,
      roots: [{ ...root, name: 'memory', allowed: options.allowed ?? root.allowed }],
    },
    dialect: boundTo(memory, 'memory'),
    backend: chooseBackend(),
    logger: pino({ level: 'silent' }),
  });
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  const server = mcpServerFactory(service)();
  await server.connect(serverEnd);
  const client = new Client({ name: 'ringfence-tests', version: '0.0.0' });
  await client.connect(clientEnd);
  return assemble(client, base, async () => {
    await client.close();
    await service.close();
    if (options.base === undefined) fs.rmSync(base, { recursive: true, force: true });
  });
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

/** The dialect with its tools at home in the root of that name, as a server that is bound to one root has them. */
function boundTo(dialect: Dialect, name: string): Dialect {
  const tools = dialect.tools.map((tool) => ({
    ...tool,
    run: ((args, context) => tool.run(args, { ...context, home: () => context.root(name) })) as typeof tool.run,
  }));
  return { ...dialect, tools };
}
