import { Valkey } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Replicas, startReplicas } from '../support/balanced-replicas.ts';
import { noRedis } from '../support/redis.ts';
import { SamplingClient } from '../support/sampling-client.ts';
import { connectHttp, httpTransport, type ToolClient } from '../support/tool-client.ts';

describe.skipIf(noRedis)(`files of clients${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let replicas: Replicas;
  beforeAll(async () => {
    const guide = { project: '.', allowed_paths: ['.'], cache_bytes: 100_000, timeout: 20 };
    const roots = [{ name: 'laptop', agent: { allowed_paths: ['.'], timeout: 20 } }];
    replicas = await startReplicas({ count: 3, roots, config: { dialects: { workspace: {}, guide } } });
  });
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]();
  });

  const connect = () => connectHttp(replicas.url, { dialect: 'guide' });

  /** Reads a file that was handed over, as a resource, by each replica in turn. */
  async function readEverywhere({ client }: ToolClient<'guide'>, path: string): Promise<(string | undefined)[]> {
    const texts = [];
    for (const _ of replicas.servers) {
      const { contents } = await client.readResource({ uri: `agent://${path}` });
      texts.push((contents[0] as { text?: string }).text);
    }
    return texts;
  }

  test('a file that a session without a token handed over to one replica is at all, and at no other client', async () => {
    await using client = await connect();
    await using other = await connect();
    for (let i = 0; i < 4; i += 1) {
      await client.ok('guide_cache_file', { path: `docs/${i}.md`, content: `content ${i}` });
      expect(await readEverywhere(client, `docs/${i}.md`)).toEqual(Array(3).fill(`content ${i}`));
    }
    await expect(readEverywhere(other, 'docs/0.md')).rejects.toThrow();
    expect((await client.client.listResources()).resources).toHaveLength(4);
    expect((await other.client.listResources()).resources).toHaveLength(0);
  });

  test('chunks that are sent at once, each to another replica, make up one file', async () => {
    await using client = await connect();
    for (const round of [1, 2, 3]) {
      const parts = Array.from({ length: 9 }, (_, i) => `${round}.${i} `);
      const answers = await Promise.all(
        parts.map((content, index) =>
          client.ok('guide_read_file', { path: 'big.txt', content, chunk: { index, total: parts.length } }),
        ),
      );
      // One of the calls, and only one, is told that the file is complete.
      expect(answers.filter((answer) => JSON.stringify(answer).includes('"complete":true'))).toHaveLength(1);
      expect(await readEverywhere(client, 'big.txt')).toEqual(Array(3).fill(parts.join('')));
    }
  });

  test('the limit on bytes holds for all replicas together, the least recently used goes first', async () => {
    await using client = await connect();
    for (let i = 0; i < 8; i += 1) {
      await client.ok('guide_cache_file', { path: `${i}.txt`, content: String(i).repeat(30_000) });
    }
    const names = (await client.client.listResources()).resources.map(({ name }) => name);
    expect(names.sort()).toEqual(['5.txt', '6.txt', '7.txt']);
  });

  test('what a client hands over to another replica while it is asked answers the question', async () => {
    await using client = new SamplingClient({ era: 'legacy' });
    await connectHttp(replicas.url, { client: client.client });
    client.answer(async ({ prompt }) => {
      const [path = ''] = /asked-\d+\.md/.exec(prompt) ?? [];
      await client.ok('guide_cache_file', { path, content: `of ${path}` });
      return 'done';
    });
    for (let i = 0; i < 4; i += 1) {
      const { content } = await client.ok('read_file', { root: 'laptop', path: `asked-${i}.md` });
      expect(content).toBe(`of asked-${i}.md`);
    }
    expect(client.asked).toHaveLength(4);
  });

  test('the files of a session stay while it may go on, and go when it is ended', async () => {
    const redis = new Valkey(replicas.redis.url);
    onTestFinished(() => redis.disconnect());
    const owners = async (): Promise<string[]> => (await redis.keys('ringfence:*:blobs:*')).sort();
    const before = await owners();
    const client = await connect();
    await client.ok('guide_cache_file', { path: 'a.md', content: 'a' });
    expect((await owners()).length).toBe(before.length + 1);
    const { sessionId = '', protocolVersion = '' } = httpTransport(client.client);
    // Without a word to the server.
    await client.client.close();
    const headers = { 'mcp-session-id': sessionId, 'mcp-protocol-version': protocolVersion };
    const url = new URL('/mcp/guide', replicas.url);
    for (const _ of replicas.servers) {
      const read = await fetch(url, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'resources/list' }),
      });
      expect(await read.text()).toContain('a.md');
    }
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
    await expect.poll(owners).toEqual(before);
  });
});
