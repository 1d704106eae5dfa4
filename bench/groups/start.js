import { bestOf } from '../best-of.js';
import { memoryOf } from '../clients/child.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ringfenceOnFolder } from '../peers/ringfence.js';

/** From spawn to the list of tools, and the memory that the process then holds. */
export async function start({ data, rounds }) {
  const { folder } = data.small();
  const memory = { ours: Number.POSITIVE_INFINITY, theirs: Number.POSITIVE_INFINITY };
  const tools = {};
  const contender = (name, open) => async () => {
    const started = performance.now();
    const client = open(folder);
    try {
      await client.initialize();
      const { results } = await client.burst([{ method: 'tools/list' }]);
      const ms = performance.now() - started;
      memory[name] = Math.min(memory[name], memoryOf(client.process, 'VmRSS') ?? Number.NaN);
      tools[name] = results()[0].tools.length;
      return ms;
    } finally {
      await client.close();
    }
  };
  const times = await bestOf(rounds, {
    ours: contender('ours', ringfenceOnFolder),
    theirs: contender('theirs', referenceOnStdio),
  });
  const agrees = tools.ours > 0 && tools.theirs > 0;
  return [
    { work: 'start to first tools/list, stdio', against: REFERENCE, ...times, target: 0.8, agrees },
    { work: 'memory after start', against: REFERENCE, ...memory, unit: 'bytes', target: 1, agrees },
  ];
}
