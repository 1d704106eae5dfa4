import { bestOf } from '../best-of.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { RIPGREP, ripgrepFiles } from '../peers/ripgrep.js';
import { withServers } from '../with-servers.js';

const PATTERN = '**/*.ts';

/** Files by name. Ours also says size and time of each, which ripgrep does not look up. */
export async function glob({ data, rounds, config }) {
  const { folder, files } = data.tree();
  return withServers({ ours: ringfenceOnStdio(config(folder)) }, async ({ ours }) => {
    const call = () => ours.call('glob', { root: ROOT, pattern: PATTERN, max_results: 10_000, include_ignored: true });
    const best = await bestOf(rounds, {
      ours: async () => (await call()).ms,
      theirs: async () => (await ripgrepFiles(PATTERN, folder)).ms,
    });
    const found = (await call()).result.structuredContent.matches.map(({ path }) => path).sort();
    const expected = (await ripgrepFiles(PATTERN, folder)).found();
    const agrees = found.join('\n') === expected.join('\n') && found.length > 0;
    const work = `glob ${PATTERN}, ${files.toLocaleString('en')} files`;
    return [{ work, against: `${RIPGREP} --files`, ...best, target: 2, agrees, note: `${found.length} matches` }];
  });
}
