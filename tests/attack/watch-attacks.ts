import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callOf, type Target, type Watched, watch } from '../support/attack.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** One attack by a client that has a token. `scale` is 1 for the full form. */
export interface Attack {
  readonly name: string;
  run(target: Target, scale: number): Promise<void>;
}

const LIMIT_MIB = 512;
const TOKENS = { attacker: 'attacker-token-0123456789', other: 'other-token-0123456789' };
const auth = {
  tokens: Object.entries(TOKENS).map(([name, token]) => ({
    name,
    sha256: createHash('sha256').update(token).digest('hex'),
    roots: ['r'],
  })),
};

/**
 * Tests that a server keeps to its memory and serves the holder of another token while it is attacked. Prints the figures. The server
 * has a root `r` with a file `megabyte.txt`.
 */
export function testAttacks(attacks: readonly Attack[], scale: number): void {
  const dir = tempDir();
  const figures: (Watched & { attack: string })[] = [];
  fs.writeFileSync(path.join(dir, 'megabyte.txt'), 'All work and no play.\n'.repeat(47_000));
  fs.writeFileSync(path.join(dir, 'small.txt'), 'small\n');
  afterAll(() => {
    console.table(figures);
    fs.rmSync(dir, { recursive: true, force: true });
  });

  test.each(attacks)('$name: memory stays below its limit, and another token is served', async ({ name, run }) => {
    await using rf = await startServer({ roots: [{ name: 'r', path: dir }], config: { auth }, token: TOKENS.other });
    const other = callOf({ url: rf.url, token: TOKENS.other }, 'read_file', { root: 'r', path: 'small.txt' });
    const watched = await watch(rf.pid, other, () => run({ url: rf.url, token: TOKENS.attacker }, scale));
    figures.push({ attack: name, ...watched });
    expect(watched.memoryMiB).toBeLessThan(LIMIT_MIB);
    expect([watched.served, watched.healthFailures]).toEqual([1, 0]);
  });
}
