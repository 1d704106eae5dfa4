import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const DIST = new URL('../../dist/', import.meta.url);

/**
 * Prints the ids of the threads that two calls ran on, in a process whose pool is busy with files and hashes meanwhile.
 */
const SCRIPT = `
const from = (file) => import(new URL(file, ${JSON.stringify(DIST.href)}).href);
const { onEachPoolThread, onPoolThread } = await from('hardening/pool-threads.js');
const { loadKoffi } = await from('runtime/koffi.js');
const { promises } = await import('node:fs');
const { pbkdf2 } = await import('node:crypto');
const libc = loadKoffi().load(null);
const gettid = libc.func('int gettid()');
const others = Array.from({ length: 40 }, () => promises.readFile('/proc/self/stat'));
for (let i = 0; i < 20; i += 1) others.push(new Promise((resolve) => pbkdf2('a', 'b', 500, 64, 'sha512', resolve)));
const seen = [];
await onEachPoolThread(libc, () => {
  const calls = [onPoolThread(gettid), onPoolThread(gettid)];
  others.push(promises.stat('/'));
  return [Promise.all(calls).then((pair) => { seen.push(pair); })];
});
await Promise.all(others);
process.stdout.write(JSON.stringify(seen));
`;

test.skipIf(process.platform !== 'linux').each([
  ['1', 1],
  ['4', 4],
  ['17', 17],
  ['0', 1],
  [' 6 threads', 6],
  ['none', 1],
])('calls reach each thread once and in order, with UV_THREADPOOL_SIZE=%s (needs Linux)', (size, threads) => {
  for (let round = 0; round < 3; round += 1) {
    const seen = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
        encoding: 'utf8',
        env: { ...process.env, UV_THREADPOOL_SIZE: size },
      }),
    ) as [number, number][];
    expect(seen).toHaveLength(threads);
    for (const [first, second] of seen) expect(second).toBe(first);
    expect(new Set(seen.flat()).size).toBe(threads);
  }
});
