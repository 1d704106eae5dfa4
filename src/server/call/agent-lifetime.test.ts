import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { AgentPartitions } from '../../agent/bridge/agent-partitions.ts';
import { SecurityPolicy } from '../../agent/policy/security-policy.ts';
import { defineTool } from '../../tools/tool.ts';
import { service as asking, locked } from '../asking/asking-service.fixture.ts';
import { AgentFiles } from '../clients/agent-files.ts';
import { type RunningHttpServer, startHttp } from '../http/http-server.ts';
import type { Service } from './service.ts';

const input = z.strictObject({ path: z.string() });
const output = z.object({ kept: z.array(z.string()) });
const parts = { description: '', needs: [], effect: 'read', input, output, subject: [] } as const;

/** Each tool first returns what is kept for its client. */
const hand = defineTool({
  ...parts,
  name: 'hand',
  run: async ({ path }, context) => {
    const kept = context.agentFiles().cache.paths();
    context.agentFiles().cacheFiles([{ path, content: 'x' }]);
    return { kept };
  },
});
const fetch = defineTool({
  ...parts,
  name: 'fetch',
  run: async ({ path }, context) => {
    const kept = context.agentFiles().cache.paths();
    for (const file of path.split(' ')) {
      await context.agentFiles().readFile(file, { sample: context.sample, signal: context.signal });
    }
    return { kept };
  },
});

function serviceOf(base: Service): Service & { readonly partitions: AgentPartitions } {
  const agent = new AgentPartitions({
    policy: new SecurityPolicy({ remote: true, allowedPaths: ['docs'] }),
    cacheBytes: 1_000,
    maxTotalBytes: 10_000,
    timeoutMs: 1_500,
  });
  return {
    ...base,
    dialect: { ...base.dialect, tools: [hand, fetch] },
    agentFiles: new AgentFiles(agent),
    partitions: agent,
  };
}

const open: { close(graceMs: number): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((each) => each.close(0)))));

async function serve(service: Service): Promise<RunningHttpServer> {
  const serving = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
  open.push(serving);
  return serving;
}

async function connect({ base }: RunningHttpServer, era: 'legacy' | 'modern', token?: string) {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const options = { versionNegotiation: { mode }, capabilities: { sampling: {} } };
  const client = new Client({ name: 't', version: '0' }, options as never);
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: '{"content":"x"}' } };
  client.setRequestHandler('sampling/createMessage', (() => answer) as never);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } });
  await client.connect(transport);
  return { client, transport };
}

async function kept(client: Client, name: string, path: string): Promise<unknown> {
  const { structuredContent, content } = await client.callTool({ name, arguments: { path } });
  return (structuredContent as { kept?: unknown })?.kept ?? content;
}

test('a session keeps what it was given until it ends, and so does no other', async () => {
  const service = serviceOf(asking);
  const serving = await serve(service);
  const [one, other] = [await connect(serving, 'legacy'), await connect(serving, 'legacy')];
  expect(await kept(one.client, 'hand', 'docs/a')).toEqual([]);
  expect(await kept(one.client, 'fetch', 'docs/b')).toEqual(['docs/a']);
  expect(await kept(other.client, 'hand', 'docs/c')).toEqual([]);
  expect(service.partitions.stats().partitions).toBe(2);
  await one.transport.terminateSession();
  expect(service.partitions.stats().partitions).toBe(1);
  await serving.close(0);
  expect(service.partitions.stats().partitions).toBe(0);
});

test('a principal keeps it whatever sessions it has, in either era', async () => {
  const service = serviceOf(locked);
  const serving = await serve(service);
  const first = await connect(serving, 'legacy', 'one');
  expect(await kept(first.client, 'hand', 'docs/a')).toEqual([]);
  await first.transport.terminateSession();
  const modern = await connect(serving, 'modern', 'one');
  expect(await kept(modern.client, 'fetch', 'docs/b')).toEqual(['docs/a']);
  const other = await connect(serving, 'modern', 'two');
  expect(await kept(other.client, 'hand', 'docs/c')).toEqual([]);
});

test('for a client without identity nothing is kept after its call', async () => {
  const service = serviceOf(asking);
  const { client } = await connect(await serve(service), 'modern');
  expect(await kept(client, 'hand', 'docs/a')).toEqual([]);
  expect(service.partitions.stats().partitions).toBe(0);
  // In its last round it knows what it learned in those before.
  expect(await kept(client, 'fetch', 'docs/a docs/b docs/c')).toEqual(['docs/a', 'docs/b']);
  expect(service.partitions.stats().partitions).toBe(0);
});

test('what a call without identity learned is dropped when the client does not come back', async () => {
  const service = serviceOf(asking);
  const { client } = await connect(await serve(service), 'modern');
  client.setRequestHandler('sampling/createMessage', (() => {
    throw new Error('refused');
  }) as never);
  await expect(kept(client, 'fetch', 'docs/a')).rejects.toThrow();
  expect(service.partitions.stats().partitions).toBe(1);
  await expect.poll(() => service.partitions.stats().partitions, { timeout: 10_000 }).toBe(0);
});
