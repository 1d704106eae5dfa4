import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { cannotRunGluster } from '../support/gluster-volume.ts';
import { noRedis } from '../support/redis.ts';
import { startReplicas } from '../support/replicas.ts';
import type { TestServer } from '../support/start-server.ts';

const reason = cannotRunGluster ?? noRedis;
const FILES = 100;
const EDITORS = 4;
const MS = 10_000;
const LINES = 50;
const names = Array.from({ length: FILES }, (_, index) => `f${index}`);
/** A version of a file: the same number on every line, so that a mixture of two is seen. */
const contentOf = (name: string, version: number): string => `${name} ${version}\n`.repeat(LINES);

test.skipIf(reason !== undefined)(
  `a replica copies a folder of ${FILES} files again and again while another overwrites them (${reason ?? 'GlusterFS, two mounts'})`,
  { timeout: 120_000 },
  async () => {
    await using replicas = await startReplicas({ config: { durable_writes: false } });
    const [copier, editor] = replicas.servers;
    if (copier === undefined || editor === undefined) throw new Error('two replicas');
    const top = replicas.volume.mounts[0] as string;
    // By a server, so that its lease tells the next ones what they have to find.
    await Promise.all(names.map((name) => write(editor, name, 0)));
    const until = performance.now() + MS;
    const [copies, ...edits] = await Promise.all([
      copyAgain(copier, until),
      ...Array.from({ length: EDITORS }, (_, at) => overwrite(editor, at, until)),
    ]);
    recordFigure('GlusterFS: copies of a folder that another replica changes', copies, 'copies');
    recordFigure(
      'GlusterFS: overwrites meanwhile',
      edits.reduce((sum, count) => sum + count, 0),
      'overwrites',
    );
    for (let copy = 0; copy < copies; copy += 1) {
      const folder = path.join(top, `to-${copy}`);
      expect(fs.readdirSync(folder).sort()).toEqual(names.toSorted());
      for (const name of names) {
        const text = fs.readFileSync(path.join(folder, name), 'latin1');
        expect(text).toBe(contentOf(name, Number(/ (\d+)\n/.exec(text)?.[1])));
      }
    }
    expect(copies).toBeGreaterThan(0);
    expect(fs.readdirSync(top).filter((name) => name.startsWith('.ringfence'))).toEqual([]);
  },
);

async function copyAgain(server: TestServer, until: number): Promise<number> {
  let copies = 0;
  for (; performance.now() < until; copies += 1) {
    const to = { dest_root: 'shared', dest_path: `to-${copies}` };
    await server.ok('copy', { source_root: 'shared', source_path: 'from', ...to });
  }
  return copies;
}

async function overwrite(server: TestServer, at: number, until: number): Promise<number> {
  let edits = 0;
  for (; performance.now() < until; edits += 1) {
    const name = names[(at + edits * EDITORS) % FILES] as string;
    await write(server, name, edits + 1);
  }
  return edits;
}

async function write(server: TestServer, name: string, version: number): Promise<void> {
  await server.ok('write_file', { root: 'shared', path: `from/${name}`, content: contentOf(name, version) });
}
