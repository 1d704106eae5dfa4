import { CALLS } from '../clients/calls.js';
import { memoryOf } from '../clients/child.js';
import { toolCall } from '../clients/stdio.js';
import { mixedFolder } from '../data/mixed-folder.js';
import { ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

const CALLS_IN_ALL = 100_000;
const AT_ONCE = 50;
/**
 * Until then caches fill, the engine is still at work on the code, and V8's young generation grows to its full size. Not
 * fewer on smaller scales, where at most the first half of the calls is for that.
 */
const WARM_CALLS = 20_000;
const TARGET = 1.1;

/** Whether a server that has answered very many calls holds more memory than after the first ones. */
export async function memory({ data, scratch, times, config }) {
  const settings = config(mixedFolder(data, scratch), { durable_writes: false });
  return withServers({ ours: ringfenceOnStdio(settings) }, async ({ ours }) => {
    const bursts = Math.ceil(times(CALLS_IN_ALL) / AT_ONCE);
    const warm = Math.min(WARM_CALLS / AT_ONCE, Math.floor(bursts / 2));
    let early = Number.NaN;
    for (let burst = 0; burst < bursts; burst++) {
      const requests = Array.from({ length: AT_ONCE }, (_, index) => toolCall(...CALLS.mixed(burst * AT_ONCE + index)));
      const { results } = await ours.burst(requests);
      results();
      if (burst === warm) early = await settled(ours.process);
    }
    const late = await settled(ours.process);
    return [
      {
        work: `memory after ${(bursts * AT_ONCE).toLocaleString('en')} mixed calls`,
        against: `after ${(warm * AT_ONCE).toLocaleString('en')}`,
        ours: late,
        theirs: early,
        unit: 'bytes',
        target: TARGET,
        agrees: true,
        note: 'no errors',
      },
    ];
  });
}

/** The least of a few looks: between two collections of garbage any figure may come up. */
async function settled(child) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 5; look++) {
    least = Math.min(least, memoryOf(child, 'VmRSS') ?? Number.NaN);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return least;
}
