import fs from 'node:fs';
import path from 'node:path';
import { bestOf } from '../best-of.js';
import { toolCall } from '../clients/stdio.js';
import { SMALL_FILE_BYTES, smallName } from '../data.js';
import { EMPTY, emptyOnStdio } from '../peers/empty.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

const AT_ONCE = 50;

/** Whole reads of files of 4 KiB, one after another and fifty at once. */
export async function read({ data, rounds, times, config }) {
  const { folder } = data.small();
  const file = (index) => path.join(folder, smallName(index));
  const clients = {
    ours: ringfenceOnStdio(config(folder)),
    reference: referenceOnStdio(folder),
    empty: emptyOnStdio(),
  };
  const calls = {
    ours: (index) => toolCall('read_file', { root: ROOT, path: smallName(index) }),
    reference: (index) => toolCall('read_text_file', { path: file(index) }),
    empty: () => toolCall('nothing', {}),
  };
  return withServers(clients, async () => {
    const sequential = await contest(rounds, (name) => inTurn(clients[name], calls[name], times(1_000)));
    const together = await contest(rounds, (name) => atOnce(clients[name], calls[name], times(40)));
    const expected = fs.readFileSync(file(7), 'utf8');
    const one = async (name) => (await clients[name].burst([calls[name](7)])).results()[0].structuredContent;
    const agrees = (await one('ours')).content === expected && (await one('reference')).content === expected;
    const rows = (work, best, targets) => [
      { work, against: REFERENCE, ours: best.ours, theirs: best.reference, target: targets[0], agrees },
      { work, against: EMPTY, ours: best.ours, theirs: best.empty, target: targets[1], agrees },
    ];
    return [
      ...rows(`read ${SMALL_FILE_BYTES} bytes, one by one`, sequential, [0.4, 1.3]),
      ...rows(`read ${SMALL_FILE_BYTES} bytes, ${AT_ONCE} at once, each`, together, [0.5, 1.3]),
    ];
  });
}

const contest = (rounds, run) =>
  bestOf(rounds, Object.fromEntries(['ours', 'reference', 'empty'].map((name) => [name, () => run(name)])));

/** Milliseconds a call. */
async function inTurn(client, call, count) {
  let total = 0;
  for (let index = 0; index < count; index++) total += (await client.burst([call(index)])).ms;
  return total / count;
}

async function atOnce(client, call, bursts) {
  let total = 0;
  for (let burst = 0; burst < bursts; burst++) {
    total += (await client.burst(Array.from({ length: AT_ONCE }, (_, index) => call(index)))).ms;
  }
  return total / bursts / AT_ONCE;
}
