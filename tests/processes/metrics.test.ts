import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Scrape } from '../support/prometheus-text.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

test('one answer of /metrics has the calls of all processes, and the console is not served', async () => {
  const dir = tempDir('ringfence-process-metrics-');
  fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
  await using server = await startServer({
    roots: [{ name: 'r', path: dir }],
    processes: 3,
    era: 'modern',
    config: { console: { enabled: true } },
  });
  const clients = Array.from({ length: 6 }, () => new RawClient(server.url));
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(clients.map((client) => client.call('read_file', { root: 'r', path: 'a.txt' })));
  }
  const scrape = async () => new Scrape(await (await fetch(new URL('/metrics', server.url))).text());
  await expect
    .poll(async () => (await scrape()).sum('ringfence_calls_total', { tool: 'read_file', outcome: 'success' }))
    .toBe(30);
  const { samples, types } = await scrape();
  const workers = new Set(samples.map(({ labels }) => labels.worker));
  expect([...workers].sort()).toEqual(['1', '2', '3']);
  expect(types.get('ringfence_calls_total')).toBe('counter');
  // All samples of a metric stand together, and none is there twice.
  const keys = samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  expect(new Set(keys).size).toBe(keys.length);
  const order = samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, ''));
  expect(order.filter((name, index) => name !== order[index - 1])).toHaveLength(new Set(order).size);
  expect((await fetch(new URL('/console', server.url))).status).toBe(404);
  expect(server.logs().filter(({ msg }) => String(msg).startsWith('the console shows'))).toHaveLength(1);
  for (const client of clients) client.close();
});
