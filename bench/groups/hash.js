import path from 'node:path';
import { bestOf } from '../best-of.js';
import { memoryOf } from '../clients/child.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { SHA256SUM, sha256sum } from '../peers/sha256sum.js';
import { withServers } from '../with-servers.js';

const MORE_MEMORY_TARGET = 16 * 1024 * 1024;

/** One big file, and by how much the server's highest memory use rises while it is hashed for the first time. */
export async function hash({ data, rounds, config }) {
  const { folder, file, bytes } = data.big();
  return withServers({ ours: ringfenceOnStdio(config(folder)) }, async ({ ours }) => {
    const call = () => ours.call('hash_file', { root: ROOT, path: file, algorithm: 'sha256' });
    const before = memoryOf(ours.process, 'VmHWM') ?? 0;
    const { result } = await call();
    const more = (memoryOf(ours.process, 'VmHWM') ?? 0) - before;
    const best = await bestOf(rounds, {
      ours: async () => (await call()).ms,
      theirs: async () => (await sha256sum(path.join(folder, file))).ms,
    });
    const agrees = result.structuredContent.hash === (await sha256sum(path.join(folder, file))).hash;
    const work = `sha256 of ${Math.round(bytes / 1e6)} MB`;
    return [
      { work, against: SHA256SUM, ...best, target: 1.15, agrees },
      {
        work: `${work}: more memory`,
        against: '16 MiB',
        ours: more,
        theirs: MORE_MEMORY_TARGET,
        unit: 'bytes',
        target: 1,
        agrees,
      },
    ];
  });
}
