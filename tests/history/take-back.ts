import fs from 'node:fs';
import { expect } from 'vitest';
import { connectAgents, makeOddTree, randomChange, seeded, snapshot } from '../support/random-changes.ts';
import { runRingfence } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** How many random changes are made, and how often the server is killed meanwhile. */
export interface Afternoon {
  readonly changes: number;
  readonly kills: number;
  readonly seed: number;
}

/**
 * Lets agents make random changes by all dialects, kills the server now and then, takes back everything by one command,
 * and expects the folder to be what it was: every byte, mode, time and link.
 */
export async function takeBackAll({ changes, kills, seed }: Afternoon): Promise<void> {
  const top = tempDir('ringfence-afternoon-');
  const folder = `${top}/work`;
  fs.mkdirSync(folder);
  makeOddTree(folder);
  const before = snapshot(folder);
  const random = seeded(seed);
  const roots = [{ name: 'work', path: folder, history: true }];
  const dialects = { workspace: {}, memory: { root: 'work' }, classic: { root: 'work' } };
  const config = { durable_writes: false, dialects };
  const rounds = kills + 1;
  for (let round = 0; round < rounds; round += 1) {
    await using server = await startServer({ roots, config });
    await using agents = await connectAgents(server);
    const each = Math.ceil(changes / rounds);
    for (let done = 0; done < each; done += 1) await randomChange(agents, folder, 'work', random);
    if (round === kills) continue;
    // Some changes are under way when the process ends.
    const last = Array.from({ length: 8 }, () => randomChange(agents, folder, 'work', random).catch(() => 'killed'));
    await new Promise((resolve) => setTimeout(resolve, random(15)));
    await server.stop('SIGKILL');
    await Promise.all(last);
  }
  expect(snapshot(folder)).not.toEqual(before);
  const undone = await runRingfence(['undo', '--since', '1d', folder, '--yes']);
  expect(undone.stderr + undone.stdout.slice(-2000)).not.toContain('onflict');
  expect(undone.code).toBe(0);
  expect(snapshot(folder)).toEqual(before);
  fs.rmSync(top, { recursive: true, force: true });
}
