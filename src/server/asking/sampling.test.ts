import {
  Client,
  type ClientOptions,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SampleParams } from '../../agent/sample.ts';
import { jsonBytes } from '../../wire/json-chunks.ts';
import { ToolCaller } from '../call/tool-caller.ts';
import { processPeer } from '../clients/peer.ts';
import { type RunningHttpServer, startHttp } from '../http/http-server.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import { serveSdk } from '../stdio/serve-sdk.ts';
import { StdioConnection } from '../stdio/stdio-connection.ts';
import { known, lines, locked, question, roots, service } from './asking-service.fixture.ts';

let open: RunningHttpServer;
let authed: RunningHttpServer;
beforeAll(async () => {
  open = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
  authed = await startHttp([{ path: '/mcp', service: locked }], { host: '127.0.0.1', port: 0 });
});
afterAll(() => Promise.all([open.close(0), authed.close(0)]));
beforeEach(() => {
  known.clear();
  lines.length = 0;
});

function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

type Answer = (params: SampleParams, context: { mcpReq: { signal: AbortSignal } }) => unknown;

interface Side {
  readonly transport: string;
  readonly era: string;
  readonly sampling?: object | undefined;
  readonly token?: string;
  readonly options?: ClientOptions;
}

async function connect({ transport, era, sampling = {}, token, options }: Side, answer: Answer = text('ok')) {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const capabilities = sampling === null ? {} : { sampling };
  const client = new Client({ name: 't', version: '0' }, {
    versionNegotiation: { mode },
    capabilities,
    ...options,
  } as never);
  if (sampling !== null) {
    client.setRequestHandler('sampling/createMessage', (({ params }: never, context: never) =>
      answer(params, context)) as never);
  }
  if (transport === 'stdio') {
    const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
    await serve(serverEnd);
    await client.connect(clientEnd);
  } else {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { base } = token === undefined ? open : authed;
    await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }));
  }
  return client;
}

/** Serves one client as on stdio: what is plain without the SDK. */
async function serve(end: InMemoryTransport): Promise<void> {
  const { description, running } = service;
  const connection = new StdioConnection({
    fastPath: new FastPath({ description, running, load: async () => new ToolCaller(service) }),
    peer: processPeer(roots),
    sink: {
      post: (json) => void end.send(JSON.parse(jsonBytes(json).toString())),
      send: (message) => end.send(message),
      close: () => end.close(),
    },
    serveSdk: async (transport) => serveSdk(service, { transport, onerror: () => {} }),
  });
  end.onmessage = (message) => connection.receive(message);
  end.onclose = () => void connection.close();
  await end.start();
}

const text = (said: string) => () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: said } });
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function call(client: Client, args: object = {}, options = {}) {
  const result = await client.callTool({ name: 'ask', arguments: { ...args } }, {
    timeout: 20_000,
    ...options,
  } as never);
  const [block] = result.content as { text: string }[];
  return result.isError ? block?.text : (JSON.parse(block?.text ?? '') as { answer: string }).answer;
}

const SIDES = [
  { transport: 'http', era: 'legacy' },
  { transport: 'http', era: 'modern' },
  { transport: 'stdio', era: 'legacy' },
  { transport: 'stdio', era: 'modern' },
];

describe.each(SIDES)('$transport, $era', (side) => {
  test('the client is asked, and what it answers comes back', async () => {
    const asked: SampleParams[] = [];
    const client = await connect(side, (params) => {
      asked.push(params);
      return { ...text('fine')(), stopReason: 'maxTokens' };
    });
    expect(JSON.parse((await call(client)) ?? '')).toEqual({
      content: { type: 'text', text: 'fine' },
      stopReason: 'maxTokens',
    });
    const { tools: _, ...without } = question('?');
    expect(asked).toEqual([without]);
    await client.close();
  });

  test('tools are offered to a client that declared them', async () => {
    const asked: SampleParams[] = [];
    const used = { type: 'tool_use', id: 'u', name: 'hand_over', input: { path: 'a' } };
    const client = await connect({ ...side, sampling: { tools: {} } }, (params) => {
      asked.push(params);
      return { role: 'assistant', model: 'm', content: [used], stopReason: 'toolUse' };
    });
    expect(JSON.parse((await call(client)) ?? '')).toEqual({ content: [used], stopReason: 'toolUse' });
    expect(asked).toEqual([question('?')]);
    await client.close();
  });

  test('a client that cannot be asked is not', async () => {
    const client = await connect({ ...side, sampling: null as never });
    expect(await call(client)).toBe('cannot ask');
    await client.close();
  });

  test('several questions of one call are put one after the other', async () => {
    const asked: string[] = [];
    const client = await connect(side, (params) => {
      asked.push(params.messages[0]?.content.text ?? '');
      return text(String(asked.length))();
    });
    expect(await call(client, { text: 'a b c' })).toContain('"text":"3"');
    expect(asked).toEqual(['a', 'b', 'c']);
    await client.close();
  });

  test('waiting for the client does not count against the time of a call', async () => {
    const client = await connect(side, async () => {
      await later(1_300);
      return text('slow')();
    });
    expect(await call(client)).toContain('slow');
    await client.close();
  });

  test('an answer that comes too late is a timeout with its seconds', async () => {
    const client = await connect(side, async () => {
      await later(250);
      return text('late')();
    });
    expect(await call(client, { timeout_ms: 100 })).toBe('timed_out {"seconds":0.1}');
    expect([...known.values()].every((learned) => learned.size === 0)).toBe(true);
    await client.close();
  });

  test('only the end of a call is logged as one', async () => {
    const client = await connect(side);
    await later(20);
    lines.length = 0;
    await call(client);
    await later(20);
    expect(lines.filter(({ msg }) => msg === 'call')).toMatchObject([{ tool: 'ask', outcome: 'success' }]);
    expect(service.running.size).toBe(0);
    await client.close();
  });
});

describe.each(SIDES.filter(({ era }) => era === 'legacy'))('$transport, while the call waits', (side) => {
  test.each([
    [-1, 'permission_denied {}'],
    [-32601, 'sampling_unsupported {}'],
    [-32603, 'bad_answer {"problem":"it is an error (-32603)"}'],
  ])('an error of the client (%i) is %s', async (code, expected) => {
    const client = await connect(side, () => {
      throw Object.assign(new Error('the content of a file'), { code });
    });
    expect(await call(client)).toBe(expected);
    expect(JSON.stringify(lines)).not.toContain('content of a file');
    await client.close();
  });

  test('cancelling the call cancels the question', async () => {
    const cancelled = deferred();
    const asked = deferred();
    const client = await connect(side, async (_, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', () => cancelled.resolve());
      asked.resolve();
      await cancelled.promise;
      return text('no')();
    });
    const cancel = new AbortController();
    const answer = call(client, {}, { signal: cancel.signal }).catch(() => 'cancelled');
    await asked.promise;
    cancel.abort();
    expect(await answer).toBe('cancelled');
    await cancelled.promise;
    await client.close();
  });

  test('a client that goes away ends the call', async () => {
    const asked = deferred();
    const client = await connect(side, async () => {
      asked.resolve();
      await later(5_000);
      return text('no')();
    });
    const answer = call(client).catch(() => 'gone');
    await asked.promise;
    if (side.transport === 'http') await (client.transport as StreamableHTTPClientTransport).terminateSession();
    await client.close();
    expect(await answer).toBe('gone');
    await expect.poll(() => service.running.size).toBe(0);
  });
});
