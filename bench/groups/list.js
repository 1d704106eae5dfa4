import { bestOf } from '../best-of.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

/** One folder with very many entries, sizes included. */
export async function list({ data, rounds, config }) {
  const { folder, files } = data.wide();
  const clients = { ours: ringfenceOnStdio(config(folder)), theirs: referenceOnStdio(folder) };
  const calls = {
    ours: () => clients.ours.call('list_folder', { root: ROOT, path: '.' }),
    theirs: () => clients.theirs.call('list_directory_with_sizes', { path: folder }),
  };
  return withServers(clients, async () => {
    const best = await bestOf(rounds, {
      ours: async () => (await calls.ours()).ms,
      theirs: async () => (await calls.theirs()).ms,
    });
    const ours = (await calls.ours()).result.structuredContent.entries.map(({ name, size }) => `${name} ${size} B`);
    const theirs = [...(await calls.theirs()).result.structuredContent.content.matchAll(/^\[FILE\] (\S+)\s+(.+)$/gm)];
    const agrees =
      ours.length === files && ours.join('\n') === theirs.map(([, name, size]) => `${name} ${size}`).join('\n');
    return [
      {
        work: `list ${files.toLocaleString('en')} entries with sizes`,
        against: REFERENCE,
        ...best,
        target: 0.25,
        agrees,
      },
    ];
  });
}
