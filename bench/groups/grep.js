import path from 'node:path';
import { bestOf } from '../best-of.js';
import { KINDS, NEEDLES } from '../needles.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { RIPGREP, ripgrep } from '../peers/ripgrep.js';
import { withServers } from '../with-servers.js';

/** More than any pattern has matches, so that every match is found and returned. */
const MAX_RESULTS = 10_000;
const SMALL_TREE_TARGET = 1;
const FILE_TARGET = 3;
/** Milliseconds vary more than seconds, and cost less. */
const SMALL_TREE_TURNS = 4;

/**
 * A tree of source files, a small one, and one big file: each pattern by our warm server and by ripgrep from spawn to
 * end. Whatever is measured is also compared, match by match.
 */
export async function grep({ data, rounds, config }) {
  const tree = data.tree();
  const small = data.smallTree();
  const big = data.big();
  const repository = data.repository();
  const searches = [
    {
      folder: tree.folder,
      place: tree.folder,
      where: `${tree.files.toLocaleString('en')} files`,
      needles: NEEDLES,
      target: ({ kind }) => KINDS[kind].target,
      rounds,
    },
    {
      folder: small.folder,
      place: small.folder,
      where: `${small.files} files`,
      needles: firstOfEachKind(1),
      target: () => SMALL_TREE_TARGET,
      rounds: rounds > 1 ? rounds * SMALL_TREE_TURNS : 1,
    },
    {
      folder: repository.folder,
      place: repository.folder,
      keepsRules: true,
      where: `${repository.own.toLocaleString('en')} files beside ${(repository.files - repository.own).toLocaleString('en')} ignored ones`,
      needles: firstOfEachKind(1),
      target: ({ kind }) => KINDS[kind].target,
      rounds,
    },
    {
      folder: big.folder,
      place: path.join(big.folder, big.file),
      where: `one file of ${Math.round(big.bytes / 1e6)} MB`,
      needles: firstOfEachKind(2),
      target: () => FILE_TARGET,
      rounds,
    },
  ];
  const rows = [];
  for (const search of searches) rows.push(...(await compare({ ...search, config })));
  return rows;
}

const firstOfEachKind = (count) =>
  Object.keys(KINDS).flatMap((kind) => NEEDLES.filter((needle) => needle.kind === kind).slice(0, count));

function compare({ folder, place, keepsRules = false, where, needles, target, rounds, config }) {
  return withServers({ ours: ringfenceOnStdio(config(folder)) }, async ({ ours }) => {
    const rows = [];
    for (const needle of needles) {
      const call = () =>
        ours.call('grep', {
          root: ROOT,
          pattern: needle.pattern,
          case_insensitive: needle.ignoreCase === true,
          max_results: MAX_RESULTS,
          include_ignored: !keepsRules,
        });
      const best = await bestOf(rounds, {
        ours: async () => (await call()).ms,
        theirs: async () => (await ripgrep(needle, place, { base: folder, keepsRules })).ms,
      });
      const { matches } = (await call()).result.structuredContent;
      const found = matches.map(({ file, line_number }) => `${file}:${line_number}`).sort();
      const expected = (await ripgrep(needle, place, { base: folder, keepsRules })).found();
      const agrees = found.join('\n') === expected.join('\n') && found.length > 0;
      rows.push({
        work: `grep ${KINDS[needle.kind].title}, ${where}`,
        against: RIPGREP,
        ...best,
        target: target(needle),
        agrees,
        note: `${needle.pattern} (${found.length} matches)`,
      });
    }
    return rows;
  });
}
