import path from 'node:path';
import { bestOf } from '../best-of.js';
import { NEEDLES } from '../needles.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { RIPGREP, ripgrep } from '../peers/ripgrep.js';
import { withServers } from '../with-servers.js';

/** More than any pattern has matches, so that every match is found and returned. */
const MAX_RESULTS = 10_000;
const TREE_TARGETS = [1.5, 2, 3.5];
const FILE_TARGET = 3;

/** A tree of source files, then one big file: each pattern by our warm server and by ripgrep from spawn to end. */
export async function grep({ data, rounds, config }) {
  const tree = data.tree();
  const big = data.big();
  const rows = await search({ rounds, config, folder: tree.folder, place: tree.folder }, (kind, index) => ({
    work: `grep ${kind}, ${tree.files.toLocaleString('en')} files`,
    target: TREE_TARGETS[index],
  }));
  const file = path.join(big.folder, big.file);
  const more = await search({ rounds, config, folder: big.folder, place: file }, (kind) => ({
    work: `grep ${kind}, one file of ${Math.round(big.bytes / 1e6)} MB`,
    target: FILE_TARGET,
  }));
  return [...rows, ...more];
}

function search({ rounds, config, folder, place }, describe) {
  return withServers({ ours: ringfenceOnStdio(config(folder)) }, async ({ ours }) => {
    const rows = [];
    for (const [index, { kind, pattern }] of NEEDLES.entries()) {
      const call = () => ours.call('grep', { root: ROOT, pattern, max_results: MAX_RESULTS });
      const best = await bestOf(rounds, {
        ours: async () => (await call()).ms,
        theirs: async () => (await ripgrep(pattern, place, { base: folder })).ms,
      });
      const { matches } = (await call()).result.structuredContent;
      const found = matches.map(({ file, line_number }) => `${file}:${line_number}`).sort();
      const expected = (await ripgrep(pattern, place, { base: folder })).found();
      const agrees = found.join('\n') === expected.join('\n') && found.length > 0;
      rows.push({ ...describe(kind, index), against: RIPGREP, ...best, agrees, note: `${found.length} matches` });
    }
    return rows;
  });
}
