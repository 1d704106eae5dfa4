import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ProcessLog, runRingfence, spawnRingfence } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const HANDSHAKE =
  line({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
  }) +
  line({ method: 'notifications/initialized' }) +
  line({ id: 2, method: 'tools/list' });

test.runIf(process.platform === 'linux')(
  'a search thread is ready before the first call, and the log does not mention it',
  async () => {
    const child = spawnRingfence(['stdio', dir]);
    const log = new ProcessLog(child);
    await log.waitFor(({ msg }) => msg === 'serving');
    const threads = () => fs.readdirSync(`/proc/${child.pid}/task`).length;
    const before = threads();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(threads()).toBe(before);
    child.stdin.write(HANDSHAKE);
    await expect.poll(threads, { timeout: 10_000 }).toBeGreaterThan(before);
    child.stdin.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(log.lines().filter(({ tool }) => tool !== undefined)).toEqual([]);
  },
);

test('a client that leaves after the handshake is not waited for', async () => {
  const started = performance.now();
  const { code, stdout } = await runRingfence(['stdio', dir], { stdin: HANDSHAKE });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(performance.now() - started).toBeLessThan(5_000);
});
