import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configFromDirs } from '../../config/folders/config-from-dirs.ts';
import { workspace } from '../../dialects/workspace/index.ts';
import { chooseBackend } from '../../fence/index.ts';
import { ToolCaller } from '../call/tool-caller.ts';
import { processPeer } from '../clients/peer.ts';
import { type RunningHttpServer, startHttp } from '../http/http-server.ts';
import { openService } from '../open-service.ts';
import { SdkTransport } from '../stdio/sdk-transport.ts';
import { serveSdk } from '../stdio/serve-sdk.ts';
import { StdioConnection } from '../stdio/stdio-connection.ts';
import { StdioTransport } from '../stdio/stdio-transport.ts';
import { FastPath } from './fast/fast-path.ts';
import { LEGACY_VERSIONS } from './fast/responses.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-fast-path-'));
const root = path.basename(folder);
fs.mkdirSync(path.join(folder, 'sub'));
fs.writeFileSync(path.join(folder, 'a.txt'), 'one "quoted" \\n\n\ttwo ü 🙂 \u2028\n\nlast');
fs.writeFileSync(path.join(folder, 'bytes.bin'), Buffer.from([0, 255, 10, 13, 200]));
fs.writeFileSync(path.join(folder, 'image'), Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'));
fs.writeFileSync(path.join(folder, 'sub', 'b.txt'), '');
fs.mkdirSync(path.join(folder, 'crowd'));
for (let i = 0; i < 300; i += 1) fs.writeFileSync(path.join(folder, 'crowd', `"é\\${i}`), '');
fs.writeFileSync(path.join(folder, 'long.txt'), 'x'.repeat(2_000_000));

const logger = pino({ level: 'silent' });
const service = openService({
  config: configFromDirs([folder]),
  dialect: workspace,
  backend: chooseBackend(),
  logger,
});
const { description, running } = service;
afterAll(async () => {
  await service.close();
  fs.rmSync(folder, { recursive: true });
});

type Era = 'legacy' | 'modern';
type Params = Record<string, unknown>;

interface Case {
  readonly what: string;
  readonly method: string;
  readonly params?: Params | undefined;
  /** Fields of the message that are not as usual. */
  readonly message?: Params;
  /** Who answers; by default the fast path. */
  readonly by?: 'sdk';
  readonly byTransportOnStdio?: true;
}

const call = (name: unknown, args?: Params): Params => ({ name, ...(args && { arguments: args }) });
const read = (args: Params): Params => call('read_file', { root, ...args });

/** Requests of either era. */
const CASES: readonly Case[] = [
  { what: 'a read', method: 'tools/call', params: read({ path: 'a.txt' }) },
  { what: 'a read of lines', method: 'tools/call', params: read({ path: 'a.txt', offset_lines: 2 }) },
  { what: 'a read of bytes', method: 'tools/call', params: read({ path: 'a.txt', offset_bytes: 1, limit_bytes: 9 }) },
  { what: 'a read of what is no text', method: 'tools/call', params: read({ path: 'bytes.bin' }) },
  { what: 'a read of an image', method: 'tools/call', params: read({ path: 'image' }) },
  { what: 'a read of the last lines', method: 'tools/call', params: read({ path: 'a.txt', offset_lines: -2 }) },
  { what: 'a read of an empty file', method: 'tools/call', params: read({ path: 'sub/b.txt' }) },
  { what: 'a read that is refused', method: 'tools/call', params: read({ path: '../x' }) },
  { what: 'a read of too much', method: 'tools/call', params: read({ path: 'long.txt' }) },
  { what: 'a listing', method: 'tools/call', params: call('list_folder', { root, path: '' }) },
  { what: 'a long listing', method: 'tools/call', params: call('list_folder', { root, path: 'crowd' }) },
  { what: 'a stat', method: 'tools/call', params: call('stat_file', { root, path: 'a.txt' }) },
  { what: 'a search', method: 'tools/call', params: call('grep', { root, pattern: 'q.*d' }) },
  { what: 'a write', method: 'tools/call', params: call('write_file', { root, path: 'new.txt', content: 'ü' }) },
  { what: 'a call without arguments', method: 'tools/call', params: call('list_roots') },
  { what: 'wrong arguments', method: 'tools/call', params: read({ path: 5, pth: 'a' }) },
  { what: 'an unknown tool', method: 'tools/call', params: call('raed_file', {}) },
  { what: 'a name that an object has', method: 'tools/call', params: call('toString', {}) },
  { what: 'the id 0', method: 'tools/call', params: read({ path: 'a.txt' }), message: { id: 0 } },
  { what: 'a text as id', method: 'tools/call', params: read({ path: 'a.txt' }), message: { id: 'ü"\n' } },
  { what: 'a list of tools', method: 'tools/list', params: {} },
  { what: 'unknown metadata', method: 'tools/list', params: { _meta: { 'example.com/x': [1] } } },
  { what: 'the next page of tools', method: 'tools/list', params: { cursor: 'x' }, by: 'sdk' },
  { what: 'a wrong page of tools', method: 'tools/list', params: { cursor: 5 }, by: 'sdk' },
  { what: 'a name that is none', method: 'tools/call', params: call(5, {}), by: 'sdk' },
  { what: 'arguments that are none', method: 'tools/call', params: { name: 'list_roots', arguments: [] }, by: 'sdk' },
  {
    what: 'an argument that is dropped',
    method: 'tools/call',
    params: JSON.parse('{"name":"list_roots","arguments":{"__proto__":1}}'),
    by: 'sdk',
  },
  { what: 'a task', method: 'tools/call', params: { ...call('list_roots'), task: { ttl: 1 } }, by: 'sdk' },
  { what: 'an unknown parameter', method: 'tools/call', params: { ...call('list_roots'), x: 1 }, by: 'sdk' },
  {
    what: 'a wrong progress token',
    method: 'tools/list',
    params: { _meta: { progressToken: {} } },
    by: 'sdk',
    // The SDK would not answer it there.
    byTransportOnStdio: true,
  },
  { what: 'an unknown method', method: 'tools/cull', params: {}, by: 'sdk' },
  { what: 'a method without handler', method: 'prompts/list', params: {}, by: 'sdk' },
];

const LEGACY_CASES: readonly Case[] = [
  ...CASES,
  { what: 'no parameters', method: 'tools/list' },
  { what: 'a ping', method: 'ping' },
  { what: 'a ping with parameters', method: 'ping', params: {} },
  { what: 'asking what the server is', method: 'server/discover', params: {}, by: 'sdk' },
];

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '0', icons: [{ src: 'x', sizes: ['1x1'] }] },
  'io.modelcontextprotocol/clientCapabilities': { roots: { listChanged: true }, elicitation: { form: {} } },
};

const MODERN_CASES: readonly Case[] = [
  ...CASES,
  { what: 'asking what the server is', method: 'server/discover', params: {} },
  { what: 'a ping', method: 'ping', params: {}, by: 'sdk' },
  { what: 'initialize', method: 'initialize', params: {}, by: 'sdk' },
  {
    what: 'a log level',
    method: 'tools/list',
    params: { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } },
    by: 'sdk',
  },
  {
    what: 'wrong capabilities',
    method: 'tools/list',
    params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': { roots: 5 } } },
    by: 'sdk',
  },
  {
    what: 'another version',
    method: 'tools/list',
    params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } },
    by: 'sdk',
  },
  {
    what: 'a wrong name of the client',
    method: 'tools/list',
    params: { _meta: { 'io.modelcontextprotocol/clientInfo': { name: 't' } } },
    by: 'sdk',
  },
];

const CASES_OF = { legacy: LEGACY_CASES, modern: MODERN_CASES };

function messageOf({ method, params, message }: Case, era: Era): JSONRPCMessage {
  const meta = { ...ENVELOPE, ...(params?._meta as object) };
  const all = era === 'legacy' ? params : { ...params, _meta: meta };
  return { jsonrpc: '2.0', id: 7, method, ...(all && { params: all }), ...message } as JSONRPCMessage;
}

const OPENING: JSONRPCMessage = {
  jsonrpc: '2.0',
  id: 'opening',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};

/**
 * A server on two streams, with the fast path or without. `ask` resolves with all output until every request is
 * answered.
 */
function onStdio(usesFastPath: boolean) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StdioTransport({ input, output });
  let sdkStarts = 0;
  const startSdk = async (side: Parameters<typeof serveSdk>[1]['transport']) => {
    sdkStarts += 1;
    return serveSdk(service, { transport: side, onerror: () => {} });
  };
  const connection = new StdioConnection({
    fastPath: new FastPath({ description, running, load: async () => new ToolCaller(service) }),
    peer: processPeer(service.roots),
    sink: transport,
    serveSdk: startSdk,
  });
  const alone = usesFastPath ? undefined : new SdkTransport(transport, startSdk);
  transport.receiver = alone ?? connection;
  transport.start();
  let heard = '';
  output.on('data', (chunk) => {
    heard += chunk;
  });
  const ask = async (...messages: JSONRPCMessage[]): Promise<string> => {
    heard = '';
    for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
    const ids = messages.flatMap((message) => ('id' in message && 'method' in message ? [message.id] : []));
    const answered = (): boolean => ids.every((id) => heard.includes(`"id":${JSON.stringify(id)}`));
    // Some requests get no answer, with or without the fast path.
    for (let wait = 0; wait < 200 && !answered(); wait += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    return heard;
  };
  return { ask, sdkStarts: () => sdkStarts };
}

/** Two writes of the same make two versions. */
function unversioned<T>(answer: T): T {
  if (typeof answer !== 'string') return answer;
  return answer.replaceAll(/(\\?"version\\?":\\?")[0-9a-v]{12}/g, '$1') as T & string;
}

describe.each(['legacy', 'modern'] as const)('on stdio, %s', (era) => {
  const open = async (usesFastPath: boolean) => {
    const served = onStdio(usesFastPath);
    await served.ask(era === 'legacy' ? OPENING : messageOf({ what: '', method: 'tools/list' }, era));
    return served;
  };

  test.each(CASES_OF[era])('$what is answered in the same words', async (which) => {
    const [fast, slow] = [await open(true), await open(false)];
    const message = messageOf(which, era);
    expect(unversioned(await fast.ask(message))).toBe(unversioned(await slow.ask(message)));
    expect(fast.sdkStarts()).toBe(which.by === 'sdk' && !which.byTransportOnStdio ? 1 : 0);
  });

  test('requests after one that needed the SDK are answered in the same bytes', async () => {
    const [fast, slow] = [await open(true), await open(false)];
    const [odd, plain] = [
      messageOf({ what: '', method: 'prompts/list' }, era),
      messageOf({ what: '', method: 'tools/call', params: read({ path: 'a.txt' }) }, era),
    ];
    for (const message of [plain, odd, plain, odd]) expect(await fast.ask(message)).toBe(await slow.ask(message));
    expect(fast.sdkStarts()).toBe(1);
  });
});

const CLIENT = { name: 't', version: '0' };
const initialize = (params: Params): JSONRPCMessage => ({ jsonrpc: '2.0', id: 1, method: 'initialize', params });

describe('an opening on stdio', () => {
  test('knows the versions that the SDK knows', () => {
    expect(LEGACY_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });

  test.each([
    ...LEGACY_VERSIONS.map((protocolVersion) => ({ protocolVersion, capabilities: {}, clientInfo: CLIENT })),
    { protocolVersion: '2024-01-01', capabilities: {}, clientInfo: CLIENT },
    { protocolVersion: '2026-07-28', capabilities: {}, clientInfo: { ...CLIENT, title: 'T', websiteUrl: 'http://x' } },
    { protocolVersion: '2025-06-18', capabilities: { sampling: {}, roots: {} }, clientInfo: CLIENT },
    { protocolVersion: '2025-06-18', capabilities: { experimental: { x: { y: 1 } } }, clientInfo: CLIENT, _meta: {} },
  ])('with %j is answered in the same words without the SDK', async (params) => {
    const [fast, slow] = [onStdio(true), onStdio(false)];
    expect(await fast.ask(initialize(params))).toBe(await slow.ask(initialize(params)));
    expect(fast.sdkStarts()).toBe(0);
  });

  test.each([
    { protocolVersion: 5, capabilities: {}, clientInfo: CLIENT },
    { protocolVersion: '2025-06-18', capabilities: [], clientInfo: CLIENT },
    { protocolVersion: '2025-06-18', capabilities: { roots: { listChanged: 1 } }, clientInfo: CLIENT },
    { protocolVersion: '2025-06-18', capabilities: { sampling: { tools: 5 } }, clientInfo: CLIENT },
    {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: { form: { applyDefaults: 5 } } },
      clientInfo: CLIENT,
    },
    { protocolVersion: '2025-06-18', capabilities: { tasks: {} }, clientInfo: CLIENT },
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't' } },
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { ...CLIENT, icons: [{}] } },
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT, x: 1 },
    {},
  ])('with %j is left to the SDK, and so is what follows', async (params) => {
    const [fast, slow] = [onStdio(true), onStdio(false)];
    const list = messageOf({ what: '', method: 'tools/list' }, 'legacy');
    for (const message of [initialize(params), list, list]) {
      expect(await fast.ask(message)).toBe(await slow.ask(message));
    }
    expect(fast.sdkStarts()).toBe(1);
  });

  test.each([
    ['a call before it', [messageOf({ what: '', method: 'tools/list' }, 'legacy'), OPENING]],
    ['a ping before it', [messageOf({ what: '', method: 'ping' }, 'legacy'), OPENING]],
    ['a second one', [OPENING, { ...OPENING, id: 'again' }]],
    ['one after a request of 2026-07-28', [messageOf({ what: '', method: 'tools/list' }, 'modern'), OPENING]],
    ['one after asking what the server is', [messageOf({ what: '', method: 'server/discover' }, 'modern'), OPENING]],
    ['a request of 2026-07-28 after it', [OPENING, messageOf({ what: '', method: 'tools/list' }, 'modern')]],
  ] as [string, JSONRPCMessage[]][])('with %s is answered in the same words', async (_, messages) => {
    const [fast, slow] = [onStdio(true), onStdio(false)];
    for (const message of messages) expect(await fast.ask(message)).toBe(await slow.ask(message));
  });
});

describe('over HTTP', () => {
  let fast: RunningHttpServer;
  let slow: RunningHttpServer;
  beforeAll(async () => {
    const mounts = [{ path: '/mcp', service }] as const;
    fast = await startHttp(mounts, { host: '127.0.0.1', port: 0 });
    slow = await startHttp(mounts, { host: '127.0.0.1', port: 0, fastPath: false });
  });
  afterAll(() => Promise.all([fast.close(0), slow.close(0)]));

  type Headers = Record<string, string>;
  const BOTH = 'application/json, text/event-stream';

  async function post({ base }: RunningHttpServer, message: unknown, more: Headers) {
    const headers: Headers = { 'content-type': 'application/json', accept: BOTH, ...more };
    const request = http.request(`${base}/mcp`, { method: 'POST', headers });
    request.end(JSON.stringify(message));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let body = '';
    for await (const chunk of response) body += chunk;
    const { date: _, 'content-length': length, 'transfer-encoding': __, ...kept } = response.headers;
    const text = unnumbered(unversioned(body));
    return { status: response.statusCode, body: text, headers: kept, byLane: length !== undefined };
  }

  /** Numbers the event streams of a body from 0. A server begins to count them at a random number. */
  function unnumbered(body: string): string {
    const streams: string[] = [];
    return body.replace(/^(id: )(\d+)(?=-)/gm, (_, id: string, stream: string) => {
      if (!streams.includes(stream)) streams.push(stream);
      return id + streams.indexOf(stream);
    });
  }

  /** The headers of later requests: a session for one of 2025, copies of the body for one of 2026. */
  async function headersFor(server: RunningHttpServer, era: Era, message: JSONRPCMessage): Promise<Headers> {
    if (era === 'legacy') {
      const { headers } = await post(server, OPENING, {});
      return { 'mcp-session-id': String(headers['mcp-session-id']) };
    }
    const { method, params } = message as { method: string; params: Params };
    const name = params.name === undefined ? {} : { 'mcp-name': String(params.name) };
    return { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name };
  }

  async function expectSame(era: Era, message: JSONRPCMessage, more: Headers = {}): Promise<boolean> {
    const answers = [];
    for (const server of [fast, slow]) {
      const answer = await post(server, message, { ...(await headersFor(server, era, message)), ...more });
      const { 'mcp-session-id': id, ...headers } = answer.headers;
      answers.push({ ...answer, headers: { ...headers, session: id !== undefined } });
    }
    const [{ byLane, ...first }, { byLane: _, ...second }] = answers as [(typeof answers)[0], (typeof answers)[0]];
    expect(first).toEqual(second);
    return byLane;
  }

  describe.each(['legacy', 'modern'] as const)('%s', (era) => {
    test.each(CASES_OF[era])('$what is answered in the same words and form', async (which) => {
      const byLane = await expectSame(era, messageOf(which, era));
      if (which.by !== 'sdk') expect(byLane).toBe(true);
    });

    const list = messageOf({ what: '', method: 'tools/list', params: {} }, era);
    const roots = messageOf({ what: '', method: 'tools/call', params: call('list_roots') }, era);
    test.each([
      ['another content type', { 'content-type': 'text/plain' }],
      ['a content type with another charset', { 'content-type': 'application/json; charset=latin1' }],
      ['an accept of JSON alone', { accept: 'application/json' }],
      ['an accept of anything', { accept: '*/*' }],
      ['an unknown version', { 'mcp-protocol-version': '2099-01-01' }],
      ['an older version', { 'mcp-protocol-version': '2025-03-26' }],
      ['a version whose streams begin with an id', { 'mcp-protocol-version': '2025-11-25' }],
      ['an accept of two ranges', { accept: 'text/*, application/*;q=0.5' }],
      ['an accept that excludes JSON', { accept: 'text/event-stream, application/json;q=0' }],
      ['the newest version', { 'mcp-protocol-version': '2026-07-28' }],
      ['another method', { 'mcp-method': 'ping' }],
      ['an unknown session', { 'mcp-session-id': 'x' }],
    ] as [string, Headers][])('%s in the headers changes nothing else', async (_, headers) => {
      await expectSame(era, list, headers);
    });

    test.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
      'the content type %s changes nothing, not even who answers',
      async (type) => {
        expect(await expectSame(era, list, { 'content-type': type })).toBe(true);
      },
    );

    test.each([
      ['another', 'grep'],
      ['the same, encoded', `=?base64?${Buffer.from('list_roots').toString('base64')}?=`],
      ['something encoded wrongly', '=?base64?%?='],
    ])('%s tool in the headers changes nothing else', async (_, name) => {
      await expectSame(era, roots, { 'mcp-name': name });
    });
  });

  test('several requests in one body are left to the SDK', async () => {
    const list = messageOf({ what: '', method: 'tools/list' }, 'legacy');
    await expectSame('legacy', [list, { ...list, id: 8 }] as unknown as JSONRPCMessage);
  });
});
