import { once } from 'node:events';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { ProcessLog, spawnRingfence } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const STARTS = 200;

/** Starts a server, and returns the milliseconds until it serves and the number of threads that the kernel restricts. */
async function start(folder: string, env: Record<string, string>): Promise<{ ms: number; restricted: number }> {
  const started = performance.now();
  const child = spawnRingfence(['stdio', folder], { env });
  await new ProcessLog(child).waitFor(({ msg }) => msg === 'serving');
  const ms = performance.now() - started;
  const tasks = `/proc/${child.pid}/task`;
  const restricted = fs
    .readdirSync(tasks)
    .filter((task) => /^NoNewPrivs:\t1$/m.test(fs.readFileSync(`${tasks}/${task}/status`, 'utf8'))).length;
  child.kill('SIGKILL');
  await once(child, 'close');
  return { ms, restricted };
}

test(`each of ${STARTS} starts restricts the main thread and the whole pool`, async () => {
  const folder = tempDir();
  const times: Record<'require' | 'off', number[]> = { require: [], off: [] };
  for (let i = 0; i < STARTS; i += 1) {
    const size = 1 + (i % 12);
    const env = { RINGFENCE_LANDLOCK: 'require', UV_THREADPOOL_SIZE: String(size) };
    const { ms, restricted } = await start(folder, env);
    expect(restricted).toBe(1 + size);
    times.require.push(ms);
    times.off.push((await start(folder, { ...env, RINGFENCE_LANDLOCK: 'off' })).ms);
  }
  fs.rmSync(folder, { recursive: true });
  const median = (all: number[]): number => all.sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
  recordFigure('Landlock: start until serving, median', median(times.require), 'ms');
  recordFigure('Landlock off: start until serving, median', median(times.off), 'ms');
});
