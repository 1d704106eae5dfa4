import { describe, expect, test } from 'vitest';
import { AgentPartitions, BridgeError, FileCache, FilesystemBridge, SecurityPolicy } from '../../src/index.ts';

const policy = new SecurityPolicy({ remote: true, allowedPaths: ['docs/'] });

function bridgeAt(clock: { now: number }, maxBytes = 10_000): FilesystemBridge {
  return new FilesystemBridge({ policy, cache: new FileCache({ maxBytes }), now: () => clock.now });
}

describe('filesystem-tools/Large file handling', () => {
  const MINUTE = 60_000;
  const send = (bridge: FilesystemBridge, index: number, content = `part ${index} `) =>
    bridge.receiveFile({ path: 'docs/large.md', content, chunk: { index, total: 3 } });

  test('an incomplete set expires five minutes after its last chunk', async () => {
    const clock = { now: 0 };
    const bridge = bridgeAt(clock);
    send(bridge, 0);
    clock.now += 4 * MINUTE;
    expect(send(bridge, 1)).toMatchObject({ received: 2 });
    expect(bridge.stats()).toMatchObject({ chunkSets: 1, entries: 0 });
    clock.now += 6 * MINUTE;
    expect(bridge.stats()).toMatchObject({ chunkSets: 0, chunkBytes: 0 });
    expect(send(bridge, 2)).toMatchObject({ complete: false, received: 1 });
    send(bridge, 1);
    expect(send(bridge, 0)).toMatchObject({ complete: true });
    expect(await bridge.readFile('docs/large.md')).toBe('part 0 part 1 part 2 ');
  });

  test('a chunk that comes again with other content is refused, and the first stays', async () => {
    const bridge = bridgeAt({ now: 0 });
    send(bridge, 0);
    expect(() => send(bridge, 0, 'another')).toThrow(BridgeError);
    send(bridge, 1);
    send(bridge, 2);
    expect(await bridge.readFile('docs/large.md')).toBe('part 0 part 1 part 2 ');
  });

  test('sets that are never finished are bounded in number and bytes', () => {
    const bridge = bridgeAt({ now: 0 }, 1_000);
    for (let file = 0; file < 500; file += 1) {
      bridge.receiveFile({ path: `docs/${file}`, content: 'x'.repeat(90), chunk: { index: 0, total: 2 } });
    }
    expect(bridge.stats().chunkBytes).toBeLessThanOrEqual(1_000);
    expect(bridge.stats().entries).toBe(0);
  });
});

describe('partitions', () => {
  const file = (content: string) => [{ path: 'docs/a.md', content }];

  test('one client’s files are not another’s', async () => {
    const partitions = new AgentPartitions({ policy, cacheBytes: 100, maxTotalBytes: 1_000 });
    partitions.of('ada').cacheFiles(file('of ada'));
    expect(await partitions.of('ada').readFile('docs/a.md')).toBe('of ada');
    await expect(partitions.of('bob').readFile('docs/a.md')).rejects.toBeInstanceOf(BridgeError);
  });

  test('a client that is dropped leaves nothing', async () => {
    const partitions = new AgentPartitions({ policy, cacheBytes: 100, maxTotalBytes: 1_000 });
    partitions.of('ada').cacheFiles(file('of ada'));
    expect(partitions.stats()).toMatchObject({ partitions: 1, bytes: 6 });
    partitions.drop('ada');
    expect(partitions.stats()).toMatchObject({ partitions: 0, bytes: 0 });
    await expect(partitions.of('ada').readFile('docs/a.md')).rejects.toBeInstanceOf(BridgeError);
  });

  test('all together stay under their bound, the one unused for longest gives way', async () => {
    const partitions = new AgentPartitions({ policy, cacheBytes: 100, maxTotalBytes: 250 });
    for (const client of ['a', 'b']) partitions.of(client).cacheFiles(file(client.repeat(100)));
    partitions.of('a');
    partitions.of('c').cacheFiles(file('c'.repeat(100)));
    expect(partitions.stats().bytes).toBeLessThanOrEqual(250);
    expect(await partitions.of('a').readFile('docs/a.md')).toBe('a'.repeat(100));
    await expect(partitions.of('b').readFile('docs/a.md')).rejects.toBeInstanceOf(BridgeError);
  });

  test('clients without number are not remembered without number', () => {
    const partitions = new AgentPartitions({ policy, cacheBytes: 100, maxTotalBytes: 1_000, maxPartitions: 10 });
    for (let client = 0; client < 1_000; client += 1) partitions.of(`client-${client}`);
    expect(partitions.stats().partitions).toBeLessThanOrEqual(10);
  });
});

describe('filesystem-interaction/Batch file caching', () => {
  test('a batch that does not fit whole changes nothing', async () => {
    const bridge = bridgeAt({ now: 0 }, 100);
    bridge.cacheFiles([{ path: 'docs/kept', content: 'kept' }]);
    const files = ['a', 'b', 'c'].map((name) => ({ path: `docs/${name}`, content: name.repeat(40) }));
    expect(() => bridge.cacheFiles(files)).toThrow(BridgeError);
    expect(await bridge.readFile('docs/kept')).toBe('kept');
    expect(bridge.stats()).toMatchObject({ entries: 1, evictions: 0 });
  });

  test('a batch makes room for all of itself', async () => {
    const bridge = bridgeAt({ now: 0 }, 100);
    bridge.cacheFiles([{ path: 'docs/old', content: 'o'.repeat(60) }]);
    bridge.cacheFiles(['a', 'b'].map((name) => ({ path: `docs/${name}`, content: name.repeat(50) })));
    expect(bridge.stats()).toMatchObject({ entries: 2, bytes: 100, evictions: 1 });
    for (const name of ['a', 'b']) expect(await bridge.readFile(`docs/${name}`)).toBe(name.repeat(50));
  });

  test('an update within a batch does not push out its neighbour', async () => {
    const bridge = bridgeAt({ now: 0 }, 100);
    bridge.cacheFiles(['a', 'b'].map((name) => ({ path: `docs/${name}`, content: name.repeat(50) })));
    bridge.cacheFiles(['b', 'a'].map((name) => ({ path: `docs/${name}`, content: name.repeat(50) })));
    for (const name of ['a', 'b']) expect(await bridge.readFile(`docs/${name}`)).toBe(name.repeat(50));
  });

  test('a later file of a batch never gives way to an earlier one', () => {
    const bridge = bridgeAt({ now: 0 }, 100);
    bridge.cacheFiles([{ path: 'docs/b', content: 'b'.repeat(10) }]);
    const stored = bridge.cacheFiles([
      { path: 'docs/a', content: 'a'.repeat(60) },
      { path: 'docs/b', content: 'b'.repeat(40) },
    ]);
    expect(stored.map(({ status }) => status)).toEqual(['created', 'updated']);
    expect(bridge.stats()).toMatchObject({ entries: 2, bytes: 100 });
  });
});
