import fs from 'node:fs';
import path from 'node:path';
import { bestOf } from '../best-of.js';
import { toolCall } from '../clients/stdio.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

const CONTENT = 'hello';
const NAMES = 20;

/** Small files replaced over and over. The reference server does not fsync, so ours is compared without; with it is for information. */
export async function write({ scratch, rounds, times, config }) {
  const folders = Object.fromEntries(
    ['ours', 'durable', 'theirs'].map((name) => [name, fs.mkdtempSync(path.join(scratch, `write-${name}-`))]),
  );
  const clients = {
    ours: ringfenceOnStdio(config(folders.ours, { durable_writes: false })),
    durable: ringfenceOnStdio(config(folders.durable)),
    theirs: referenceOnStdio(folders.theirs),
  };
  const name = (index) => `file-${index % NAMES}.txt`;
  const ours = (index) => toolCall('write_file', { root: ROOT, path: name(index), content: CONTENT });
  const calls = {
    ours,
    durable: ours,
    theirs: (index) => toolCall('write_file', { path: path.join(folders.theirs, name(index)), content: CONTENT }),
  };
  const contender = (who, count) => async () => {
    let total = 0;
    for (let index = 0; index < count; index++) {
      const { ms, results } = await clients[who].burst([calls[who](index)]);
      total += ms;
      results();
    }
    return total / count;
  };
  return withServers(clients, async () => {
    const best = await bestOf(rounds, {
      ours: contender('ours', times(500)),
      theirs: contender('theirs', times(500)),
      durable: contender('durable', times(50)),
    });
    const agrees = Object.values(folders).every(
      (folder) =>
        fs.readFileSync(path.join(folder, name(0)), 'utf8') === CONTENT && fs.readdirSync(folder).length <= NAMES,
    );
    return [
      {
        work: 'write 5 bytes, no fsync',
        against: REFERENCE,
        ours: best.ours,
        theirs: best.theirs,
        target: 0.6,
        agrees,
      },
      { work: 'write 5 bytes, fsync (default)', against: REFERENCE, ours: best.durable, theirs: best.theirs, agrees },
    ];
  });
}
