import { pino } from 'pino';
import { expect, test } from 'vitest';
import { AgentPartitions } from '../../../agent/bridge/agent-partitions.ts';
import { SecurityPolicy } from '../../../agent/policy/security-policy.ts';
import { Activity } from '../../../audit/activity.ts';
import { Roots } from '../../../tools/roots.ts';
import type { Service } from '../../call/service.ts';
import { AgentFiles } from '../../clients/agent-files.ts';
import { type Peer, principalClient, sessionPeer } from '../../clients/peer.ts';
import { Resources } from './resources.ts';

const roots = new Roots([{ kind: 'agent', root: { name: 'laptop' }, allowed: new Set() }]);

function setUp() {
  const lines: Record<string, unknown>[] = [];
  const agent = new AgentPartitions({
    policy: new SecurityPolicy({ remote: true, allowedPaths: ['docs'] }),
    cacheBytes: 64 * 1024 * 1024,
    maxTotalBytes: 64 * 1024 * 1024,
  });
  const service = {
    agentFiles: new AgentFiles(agent),
    dialect: { name: 'test' },
    activity: new Activity({ unusual: () => {} }),
    logger: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  } as unknown as Service;
  const peer = sessionPeer(roots, 'one');
  const bridge = agent.of(peer.client?.key ?? '');
  return { agent, service, peer, bridge, lines, resources: new Resources(service, peer) };
}

function errorOf(work: () => unknown): { code?: number; data?: unknown; message?: string } {
  try {
    work();
  } catch (error) {
    return error as object;
  }
  throw new Error('did not fail');
}

test('what was handed over is listed by path and read back, as text or as bytes', () => {
  const { bridge, resources } = setUp();
  bridge.cacheFiles([
    { path: 'docs/b é#1.md', content: 'bé' },
    { path: 'docs/a.png', content: Buffer.of(0x89, 0, 1).toString('base64'), encoding: 'base64' },
    { path: 'docs/latin.txt', content: 'é', encoding: 'latin1' },
    { path: 'docs/plain', content: Buffer.from('text').toString('base64'), encoding: 'base64' },
  ]);
  const { resources: listed, nextCursor } = resources.list();
  expect([listed, nextCursor]).toEqual([
    [
      { uri: 'agent://docs/a.png', name: 'docs/a.png', mimeType: 'image/png', size: 3 },
      { uri: 'agent://docs/b%20%C3%A9%231.md', name: 'docs/b é#1.md', mimeType: 'text/markdown', size: 3 },
      { uri: 'agent://docs/latin.txt', name: 'docs/latin.txt', mimeType: 'text/plain', size: 1 },
      { uri: 'agent://docs/plain', name: 'docs/plain', mimeType: 'application/octet-stream', size: 4 },
    ],
    undefined,
  ]);
  expect(listed.map(({ uri }) => resources.read(uri).contents[0])).toEqual([
    { uri: 'agent://docs/a.png', mimeType: 'image/png', blob: 'iQAB' },
    { uri: 'agent://docs/b%20%C3%A9%231.md', mimeType: 'text/markdown', text: 'bé' },
    { uri: 'agent://docs/latin.txt', mimeType: 'text/plain', text: 'é' },
    { uri: 'agent://docs/plain', mimeType: 'text/plain', text: 'text' },
  ]);
});

test.each(['agent://docs/a.md', 'AGENT://docs/a.md', 'agent://docs%2Fa.md', 'agent://docs/x/../a.md'])(
  '%s is a way to write it',
  (uri) => {
    const { bridge, resources } = setUp();
    bridge.cacheFiles([{ path: 'docs/a.md', content: 'a' }]);
    expect(resources.read(uri).contents).toMatchObject([{ uri, text: 'a' }]);
  },
);

test('reading counts as hit or miss, listing does not', () => {
  const { bridge, resources } = setUp();
  bridge.cacheFiles([{ path: 'docs/a.md', content: 'a' }]);
  resources.list();
  resources.read('agent://docs/a.md');
  errorOf(() => resources.read('agent://docs/b.md'));
  expect(bridge.stats()).toMatchObject({ hits: 1, misses: 1 });
});

test.each(['agent://docs/none.md', 'agent://', 'file:///etc/passwd', 'agent://docs/%zz', 'nonsense'])(
  '%s is not found, as the protocol says that',
  (uri) => {
    expect(errorOf(() => setUp().resources.read(uri))).toMatchObject({ code: -32602, data: { uri } });
  },
);

test('a path that the policy refuses is not found either, and is a violation', () => {
  const { resources, lines, service } = setUp();
  for (const previous of [0, 1]) {
    const uri = 'agent://../etc/passwd';
    expect(errorOf(() => resources.read(uri))).toMatchObject({ code: -32602, data: { uri } });
    expect(lines[previous]).toMatchObject({
      level: 40,
      msg: 'security violation',
      operation: 'read_resource',
      violation: 'traversal',
      attempted_path: '../etc/passwd',
      client: expect.stringMatching(/^session-/),
      previous_violations: previous,
    });
  }
  expect(service.activity?.figures()).toMatchObject([{ violations: 2 }]);
});

test('no client sees another client’s files or those of a root it may not know of, and an anonymous one sees none', () => {
  const { bridge, service, agent } = setUp();
  bridge.cacheFiles([{ path: 'docs/a.md', content: 'a' }]);
  const strangers: [Service, Peer][] = [
    [service, sessionPeer(roots, 'another')],
    [service, { roots, client: undefined }],
  ];
  agent.of('principal:x').cacheFiles([{ path: 'docs/a.md', content: 'x' }]);
  const limited = { roots: roots.only([]), client: principalClient('x') };
  const ofRoot = { ...service, agentFiles: new AgentFiles(undefined, new Map([['laptop', agent]])) };
  strangers.push([ofRoot, limited]);
  for (const [served, peer] of strangers) {
    const resources = new Resources(served, peer);
    expect(resources.list()).toEqual({ resources: [] });
    expect(errorOf(() => resources.read('agent://docs/a.md'))).toMatchObject({ code: -32602 });
  }
  const allowed = new Resources(ofRoot, { ...limited, roots });
  expect(allowed.read('agent://docs/a.md').contents).toMatchObject([{ text: 'x' }]);
});

test('a long list comes in pages, each file once', () => {
  const { bridge, resources } = setUp();
  const paths = Array.from({ length: 1_200 }, (_, i) => `docs/${String(i).padStart(4, '0')}`);
  bridge.cacheFiles(paths.map((path) => ({ path, content: 'x' })));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = resources.list(cursor);
    seen.push(...page.resources.map(({ name }) => name));
    cursor = page.nextCursor;
    // What is read meanwhile moves in the cache, not in the list.
    resources.read(`agent://${paths[0]}`);
  } while (cursor !== undefined);
  expect(seen).toEqual(paths);
});

test('what one answer cannot carry is refused', () => {
  const { bridge, resources } = setUp();
  bridge.cacheFiles([{ path: 'docs/large', content: 'x'.repeat(9 * 1024 * 1024) }]);
  expect(errorOf(() => resources.read('agent://docs/large'))).toMatchObject({ data: { reason: 'too_large' } });
});
