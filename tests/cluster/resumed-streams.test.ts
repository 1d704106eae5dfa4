import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replicas, startReplica, startReplicas } from '../support/balanced-replicas.ts';
import { EventStreamClient, type SentEvent } from '../support/event-stream.ts';
import { noRedis } from '../support/redis.ts';
import { connectHttp, newClient } from '../support/tool-client.ts';

const VERSION = '2025-11-25';
const REQUEST = 'the request 7';
const LOST = /gone, or keeps its result no longer/;

describe.skipIf(noRedis)(`event streams of replicas${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let replicas: Replicas;
  let headers: Record<string, string>;
  beforeAll(async () => {
    replicas = await startReplicas({ count: 3 });
    // Sparse, so that hashing it takes seconds, and making it none.
    fs.writeFileSync(path.join(replicas.folder, 'seconds.bin'), '');
    fs.truncateSync(path.join(replicas.folder, 'seconds.bin'), 2_000_000_000);
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'test', version: '0' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    using opened = await EventStreamClient.open(urlOf(0), { message });
    await opened.rest();
    headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': VERSION };
  });
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]();
  });

  const urlOf = (replica: number): string => new URL('/mcp', replicas.urls[replica]).href;

  function hash(url: string): Promise<EventStreamClient> {
    const args = { root: 'workspace', path: 'seconds.bin', algorithm: 'sha256' };
    const params = { name: 'hash_file', arguments: args, _meta: { progressToken: 'p' } };
    return EventStreamClient.open(url, {
      headers,
      message: { jsonrpc: '2.0', id: REQUEST, method: 'tools/call', params },
    });
  }

  function resume(url: string, event: SentEvent | undefined): Promise<EventStreamClient> {
    return EventStreamClient.open(url, { method: 'GET', headers: { ...headers, 'last-event-id': event?.id ?? '' } });
  }

  /** The answer that a stream ends with. */
  async function answerOf(stream: EventStreamClient) {
    const data = (await stream.rest()).flatMap((event) => (event.data === '' ? [] : [JSON.parse(event.data)]));
    return data.at(-1);
  }

  test('a client that lost its connection gets the result at another replica, while the call runs and after', async () => {
    const broken = await hash(urlOf(0));
    const seen = await broken.next();
    broken[Symbol.dispose]();
    for (const replica of [1, 2, 1, 0]) {
      using resumed = await resume(urlOf(replica), seen);
      expect([resumed.status, resumed.headers['content-type']]).toEqual([200, 'text/event-stream']);
      const { id, result } = await answerOf(resumed);
      expect([id, result.structuredContent.hash]).toEqual([REQUEST, expect.stringMatching(/^[\da-f]{64}$/)]);
    }
  });

  test('a client that goes on asking while the call runs gets the result once', async () => {
    const broken = await hash(urlOf(0));
    const seen = await broken.next();
    broken[Symbol.dispose]();
    for (const replica of [1, 2]) (await resume(urlOf(replica), seen))[Symbol.dispose]();
    using resumed = await resume(urlOf(1), seen);
    const events = (await resumed.rest()).filter(({ data }) => data !== '');
    expect(events).toHaveLength(1);
    expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({
      id: REQUEST,
      result: { structuredContent: { size: 2_000_000_000 } },
    });
  });

  test('another session gets nothing of it', async () => {
    using stream = await hash(urlOf(0));
    const seen = await stream.next();
    await stream.rest();
    await using other = await connectHttp(replicas.url);
    const foreign = {
      ...headers,
      'mcp-session-id': String((other.client.transport as { sessionId?: string }).sessionId),
    };
    const spec = { method: 'GET' as const, headers: { ...foreign, 'last-event-id': seen?.id ?? '' } };
    using refused = await EventStreamClient.open(urlOf(1), spec);
    expect((await answerOf(refused)).error.message).toMatch(LOST);
  });

  test('an id that names no request is refused', async () => {
    for (const id of ['1-0', `1-0.${'0'.repeat(12)}.IiI-`, `1-0.${'0'.repeat(12)}.e30`, '1-0.x.Nw', 'x']) {
      using refused = await EventStreamClient.open(urlOf(1), {
        method: 'GET',
        headers: { ...headers, 'last-event-id': id },
      });
      expect([id, refused.status]).toEqual([id, 400]);
    }
  });

  test('a call of a replica that was killed fails soon, for clients of both versions of the SDK', async () => {
    const doomed = await startReplica(replicas.folder, replicas.redis, {});
    replicas.balanceOver([new URL(doomed.url).origin]);
    await using client = await connectHttp(replicas.url);
    const old = new OldClient({ name: 'old', version: '1' });
    await old.connect(new OldTransport(new URL('/mcp', replicas.url)) as never);
    const args = { root: 'workspace', path: 'seconds.bin', algorithm: 'sha256' };
    let begun = 0;
    const onprogress = (): void => {
      begun += 1;
      if (begun < 2) return;
      replicas.balanceOver(replicas.urls);
      process.kill(doomed.pid, 'SIGKILL');
      begun = Number.NEGATIVE_INFINITY;
    };
    const calls = [
      client.client.callTool({ name: 'hash_file', arguments: args }, { onprogress }),
      old.callTool({ name: 'hash_file', arguments: args }, undefined, { onprogress }),
    ];
    const started = performance.now();
    for (const end of await Promise.allSettled(calls)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(LOST) } });
    }
    // The SDK gives up after 60 s.
    expect(performance.now() - started).toBeLessThan(30_000);
    // The session goes on.
    await client.ok('list_folder', { root: 'workspace', path: '' });
    await old.close();
    await doomed[Symbol.asyncDispose]();
  });
});

describe.skipIf(noRedis)(`calls that ask the client${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  const confirm = ['remove_file'];
  const config = { confirm_timeout: 20 };
  let replicas: Replicas;
  let session: Record<string, string>;
  beforeAll(async () => {
    replicas = await startReplicas({ confirm, config });
    const capabilities = { elicitation: {} };
    const params = { protocolVersion: VERSION, capabilities, clientInfo: { name: 'test', version: '0' } };
    using opened = await send(0, { id: 1, method: 'initialize', params });
    await opened.rest();
    session = { 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': VERSION };
  });
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]();
  });

  const urlOf = (replica: number): string => new URL('/mcp', replicas.urls[replica]).href;
  const send = (replica: number, message: object, headers = session) =>
    EventStreamClient.open(urlOf(replica), { headers, message: { jsonrpc: '2.0', ...message } });
  const resume = (replica: number, event: SentEvent | undefined) =>
    EventStreamClient.open(urlOf(replica), {
      method: 'GET',
      headers: { ...session, 'last-event-id': event?.id ?? '' },
    });
  const remove = (name: string, headers = session) => {
    fs.writeFileSync(path.join(replicas.folder, name), 'x');
    const params = { name: 'remove_file', arguments: { root: 'workspace', path: name } };
    return send(0, { id: REQUEST, method: 'tools/call', params }, headers);
  };
  const agree = async (replica: number, question: SentEvent | undefined): Promise<number> => {
    using sent = await send(replica, { id: JSON.parse(question?.data ?? '{}').id, result: { action: 'accept' } });
    return sent.status;
  };
  const messagesOf = (events: readonly SentEvent[]) => {
    return events.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data)]));
  };

  /** Reads up to the question. */
  async function questionOf(stream: EventStreamClient): Promise<SentEvent | undefined> {
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      if (event.data !== '') return event;
    }
    return undefined;
  }

  test.each([VERSION, '2025-06-18'])('the result of one arrives at another replica (%s)', async (version) => {
    const asked = await remove('known.txt', { ...session, 'mcp-protocol-version': version });
    const question = await questionOf(asked);
    asked[Symbol.dispose]();
    using early = await resume(1, question);
    expect(early.status).toBe(200);
    expect(await agree(1, question)).toBe(202);
    expect(messagesOf(await early.rest())).toMatchObject([
      { id: REQUEST, result: { structuredContent: { removed: true } } },
    ]);
    expect(fs.existsSync(path.join(replicas.folder, 'known.txt'))).toBe(false);
    for (const replica of [1, 0]) {
      using late = await resume(replica, question);
      expect(messagesOf(await late.rest())).toMatchObject([
        { id: REQUEST, result: { structuredContent: { removed: true } } },
      ]);
    }
  });

  test('a question that did not arrive is asked at another replica, which then has the result', async () => {
    const asked = await remove('unseen.txt');
    const first = await asked.next();
    expect(first).toMatchObject({ data: '' });
    asked[Symbol.dispose]();
    using again = await resume(1, first);
    const [question, ...others] = await again.rest();
    expect([messagesOf(question ? [question] : []), others]).toMatchObject([[{ method: 'elicitation/create' }], []]);
    expect(await agree(1, question)).toBe(202);
    using rest = await resume(1, question);
    expect(messagesOf(await rest.rest())).toMatchObject([
      { id: REQUEST, result: { structuredContent: { removed: true } } },
    ]);
  });

  test('a batch names no request, because one stream has all of its results', async () => {
    const requests = ['a', 'b'].map((id) => ({ jsonrpc: '2.0', id, method: 'resources/templates/list' }));
    using answered = await EventStreamClient.open(urlOf(0), { headers: session, message: requests });
    const events = await answered.rest();
    expect(events.map(({ id }) => id)).toEqual(events.map(() => expect.stringMatching(/^\d+-\d+$/)));
    expect(messagesOf(events).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('one of a replica that was killed fails soon, for clients of both versions of the SDK', async () => {
    const doomed = await startReplica(replicas.folder, replicas.redis, { confirm, config });
    replicas.balanceOver([new URL(doomed.url).origin]);
    const capabilities = { elicitation: {} };
    let asked = 0;
    const answer = async () => {
      asked += 1;
      if (asked === 2) {
        replicas.balanceOver(replicas.urls);
        process.kill(doomed.pid, 'SIGKILL');
      }
      await later(500);
      return { action: 'accept' as const, content: {} };
    };
    const client = newClient('legacy', { capabilities });
    client.setRequestHandler('elicitation/create', answer);
    await connectHttp(replicas.url, { client });
    const old = new OldClient({ name: 'old', version: '1' }, { capabilities });
    old.setRequestHandler(ElicitRequestSchema, answer);
    await old.connect(new OldTransport(new URL('/mcp', replicas.url)) as never);
    const calls = [client, old].map((each, i) => {
      fs.writeFileSync(path.join(replicas.folder, `doomed-${i}`), 'x');
      return each.callTool({ name: 'remove_file', arguments: { root: 'workspace', path: `doomed-${i}` } });
    });
    const started = performance.now();
    for (const end of await Promise.allSettled(calls)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(LOST) } });
    }
    // The SDK gives up after 60 s.
    expect(performance.now() - started).toBeLessThan(30_000);
    await client.close();
    await old.close();
    await doomed[Symbol.asyncDispose]();
  });
});
