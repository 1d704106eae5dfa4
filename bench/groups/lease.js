import fs from 'node:fs';
import path from 'node:path';
import { MemoryStore } from '../../dist/cluster/memory-store.js';
import { RedisStore } from '../../dist/cluster/redis-store.js';
import { chooseBackend, Root } from '../../dist/fence/index.js';
import { replaceText } from '../../dist/files/edit/edit-file.js';
import { Leases } from '../../dist/files/lease/leases.js';
import { bestOf } from '../best-of.js';
import { startRedis } from '../peers/redis.js';

/** What a lease may cost an edit, in milliseconds. */
const LIMIT_MS = 1.5;
const CONTENT = `${'x'.repeat(4096)}\n`;
const FAST = { durable: false };

/** What it costs an edit that no other machine changes the file meanwhile: the same edits with a lease of a Redis on loopback and without. */
export async function lease({ scratch, rounds, times }) {
  const redis = await startRedis(scratch);
  const store = redis === undefined ? new MemoryStore() : new RedisStore({ url: redis.url });
  const [on, off] = ['on', 'off'].map((name) => open(scratch, name));
  new Leases(store).coordinate(on.root);
  const count = times(500);
  try {
    const best = await bestOf(rounds, { on: () => edit(on, count), off: () => edit(off, count) });
    const agrees = [on, off].every(({ folder, edits }) => readText(folder) === `${edits}\n${CONTENT}`);
    const where = redis === undefined ? 'in memory: redis-server is not installed' : 'Redis on loopback';
    return [
      {
        work: `lease: what an edit takes more (${where})`,
        against: `${LIMIT_MS} ms`,
        ours: Math.max(best.on - best.off, 0),
        theirs: LIMIT_MS,
        target: 1,
        agrees,
        note: `${best.on.toFixed(2)} ms with, ${best.off.toFixed(2)} ms without`,
      },
    ];
  } finally {
    for (const { root } of [on, off]) root[Symbol.dispose]();
    await store.close();
    await redis?.close();
  }
}

function open(scratch, name) {
  const folder = fs.mkdtempSync(path.join(scratch, `lease-${name}-`));
  fs.writeFileSync(path.join(folder, 'f'), `0\n${CONTENT}`);
  return { folder, root: Root.open('bench', folder, chooseBackend()), edits: 0 };
}

function readText(folder) {
  return fs.readFileSync(path.join(folder, 'f'), 'latin1');
}

async function edit(one, count) {
  const file = one.root.parse('f');
  const started = performance.now();
  for (let left = count; left > 0; left -= 1) {
    const [oldText, newText] = [one.edits, one.edits + 1].map((number) => `${number}\nx`);
    await replaceText(one.root, file, { oldText, newText }, FAST);
    one.edits += 1;
  }
  return (performance.now() - started) / count;
}
