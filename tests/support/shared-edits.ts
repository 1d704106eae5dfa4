import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { recordFigure } from './figures.ts';
import { cannotRunGluster } from './gluster-volume.ts';
import { noRedis } from './redis.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import type { TestServer } from './start-server.ts';

const reason = cannotRunGluster ?? noRedis;
const where = reason ?? 'replica 2, two mounts';
const WRITERS = 4;
/** Longer than a lease lasts. */
const STOP_MS = 9_500;
const READ_PAUSE_MS = 20;
/** The line of a writer after so many edits: each adds its number at the end. */
const lineOf = (name: string, edits: number): string =>
  `${Array.from({ length: edits + 1 }, (_, i) => i).join(' ')} ${name}\n`;

interface EditJob {
  readonly edits: number;
  /** Disturbs the replicas while they edit, until the signal is aborted. */
  readonly disturb?: (replicas: Replicas, signal: AbortSignal) => Promise<void>;
}

/**
 * Defines the tests in which two replicas on GlusterFS edit lines of one file, so many times in all, and lose nothing.
 */
export function testSharedEdits(edits: number): void {
  const options = { timeout: 120_000 + edits * 500 };
  test.skipIf(reason !== undefined)(`${edits} edits of one file (${where})`, options, () => editTogether({ edits }));

  test.skipIf(reason !== undefined)(
    `${edits} edits while a holder is stopped until others took over, and Redis is killed at random (${where})`,
    options,
    () => editTogether({ edits, disturb: stopAndKill }),
  );

  test.skipIf(reason !== undefined)(
    `${edits} edits while both machines list and read, which brings replaced files back on GlusterFS (${where})`,
    options,
    () => editTogether({ edits, disturb: listAndRead }),
  );
}

async function editTogether({ edits, disturb }: EditJob): Promise<void> {
  await using replicas = await startReplicas();
  const { servers, volume } = replicas;
  const names = servers.flatMap((_, server) => Array.from({ length: WRITERS }, (_, writer) => `${server}-${writer}:`));
  const file = path.join(volume.mounts[0] as string, 'f');
  fs.writeFileSync(file, names.map((name) => lineOf(name, 0)).join(''));
  const done = new AbortController();
  const disturbed = disturb?.(replicas, done.signal);
  const started = performance.now();
  const each = Math.ceil(edits / names.length);
  try {
    await Promise.all(
      servers.flatMap((server, at) =>
        Array.from({ length: WRITERS }, (_, writer) => countUp(server, `${at}-${writer}:`, each)),
      ),
    );
    const how = disturb === undefined ? '' : `, ${disturb.name}`;
    recordFigure(`two replicas on GlusterFS${how}: an edit of one file`, (performance.now() - started) / edits, 'ms');
  } finally {
    done.abort();
    await disturbed;
  }
  const expected = names.map((name) => lineOf(name, each)).join('');
  for (const mount of volume.mounts) {
    // A machine sees for a while what was replaced, and closing such a file fails.
    await expect.poll(() => textOf(path.join(mount, 'f')), { timeout: 10_000, interval: 500 }).toBe(expected);
    expect(fs.readdirSync(mount).filter((name) => name.startsWith('.ringfence'))).toEqual([]);
  }
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file).toString('latin1');
  } catch (error) {
    return String(error);
  }
}

/**
 * Adds numbers to a line of the file, one edit after another. An edit fails if what the one before has added is not
 * there.
 */
async function countUp(server: TestServer, name: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const [old_text, new_text] = [` ${i} ${name}`, ` ${i} ${i + 1} ${name}`].map((text) =>
      i === 0 ? text.slice(1) : text,
    );
    await server.ok('edit_file', { root: 'shared', path: 'f', old_text, new_text });
  }
}

/** Stops one replica for longer than a lease lasts, and kills Redis several times meanwhile. */
async function stopAndKill({ servers, redis }: Replicas, signal: AbortSignal): Promise<void> {
  const stopAgain = async (): Promise<void> => {
    await sleep(1_000);
    process.kill(servers[0]?.pid ?? 0, 'SIGSTOP');
    await sleep(STOP_MS);
    process.kill(servers[0]?.pid ?? 0, 'SIGCONT');
  };
  const killAgain = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(500 + Math.random() * 4_000);
      await redis.kill();
      await sleep(Math.random() * 1_000);
      await redis.start();
    }
  };
  await Promise.all([stopAgain(), killAgain()]);
}

/** Lists the folder and reads the file on both machines all the time. */
async function listAndRead({ volume }: Replicas, signal: AbortSignal): Promise<void> {
  const again = async (mount: string): Promise<void> => {
    while (!signal.aborted) {
      await fs.promises.readdir(mount, { withFileTypes: true });
      // It may be replaced at that moment.
      await fs.promises.readFile(path.join(mount, 'f')).catch(() => {});
      await sleep(Math.random() * READ_PAUSE_MS);
    }
  };
  await Promise.all([...volume.mounts, ...volume.mounts].map(again));
}
