import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { ChildTransport } from '../child-transport.ts';
import type { DocWorld } from './doc-world.ts';

/** A server in the config of a client. */
interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The keys under which clients keep their servers. Gemini CLI and Codex have names of their own in an entry. */
const TABLES = ['mcpServers', 'servers', 'mcp_servers'];

/** Returns the servers in a config of a client; empty if it is none. */
export function entriesIn(text: string, language: string): Entry[] {
  const config = (language === 'toml' ? parseToml(text) : parseJsonc(text)) as Record<string, unknown>;
  return TABLES.flatMap((key) => Object.values((config[key] ?? {}) as Record<string, Record<string, unknown>>)).map(
    (entry) => ({ ...entry, url: entry.url ?? entry.httpUrl, headers: { ...(entry.headers ?? headersOf(entry)) } }),
  ) as Entry[];
}

/** Codex names the variable that holds the token. */
function headersOf({ bearer_token_env_var: name }: Record<string, unknown>): Record<string, string> | undefined {
  return typeof name === 'string' ? { Authorization: `Bearer \${${name}}` } : undefined;
}

/** Connects a client as an entry says, runs work with it, and disconnects. */
export async function withClient(
  world: DocWorld,
  entry: Entry,
  work: (client: Client) => Promise<unknown>,
  name = 'ringfence-docs',
): Promise<void> {
  const client = new Client({ name, version: '0.0.0' });
  // What clients replace in their configs: variables, inputs, and the folder that is open.
  const fill = (text: string): string =>
    world
      .fromDocs(text)
      .replaceAll(/\$\{workspaceFolder\}/g, world.at('project'))
      .replaceAll(/\$\{(?:env:|input:)?([\w-]+)\}/g, (_, variable) => world.variable(variable));
  if (entry.url !== undefined) {
    const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([key, value]) => [key, fill(value)]));
    await client.connect(new StreamableHTTPClientTransport(new URL(fill(entry.url)), { requestInit: { headers } }));
    await work(client);
    return client.close();
  }
  const env = Object.fromEntries(Object.entries(entry.env ?? {}).map(([key, value]) => [key, fill(value)]));
  const child = spawn(fill(entry.command ?? ''), (entry.args ?? []).map(fill), { env: { ...world.env, ...env } });
  const closed = once(child, 'close');
  child.stderr.resume();
  try {
    await client.connect(new ChildTransport(child));
    await work(client);
    await client.close();
  } finally {
    child.kill();
    await closed;
  }
}
