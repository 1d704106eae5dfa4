import fs from 'node:fs';
import path from 'node:path';
import { bestOf } from '../best-of.js';
import { asciiText } from '../data.js';
import { NEEDLES } from '../needles.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { RIPGREP, ripgrep, ripgrepFiles } from '../peers/ripgrep.js';
import { withServers } from '../with-servers.js';

/** The largest work last, each ten times the one before. */
const DIVISORS = [100, 10, 1];
const FILE_BYTES = [10_000, 100_000, 1_000_000];
const LINEAR = 1;
const [NEEDLE] = NEEDLES;
const GLOB = '**/*.ts';

/**
 * How the cost of five kinds of work grows when there is ten times as much to do, and ten times that. Each is a curve
 * with a peer beside it, and a row that says whether a hundred times the work takes more than a hundred times as long.
 */
export async function growth(context) {
  const rows = [];
  for (const work of [growingGrep, growingGlob, growingList, growingRead, growingWrite]) {
    const curve = await work(context);
    context.addCurve(curve);
    rows.push(rowOf(curve));
  }
  return rows;
}

function rowOf({ name, of, points }) {
  const first = points[0];
  const last = points.at(-1);
  const factor = last.size / first.size;
  return {
    work: `${name}: ${last.size.toLocaleString('en')} ${of}`,
    against: `${Math.round(factor)} times ${first.size.toLocaleString('en')}`,
    ours: last.ours,
    theirs: first.ours * factor,
    target: LINEAR,
    agrees: points.every(({ agrees }) => agrees),
  };
}

/** A curve over trees or folders: for each, both sides are timed and what they found is counted. */
async function overData({ rounds, config }, { name, of, against, places, ours, theirs, peer }) {
  const points = [];
  for (const { folder, files } of places) {
    const clients = { ours: ringfenceOnStdio(config(folder)), ...(peer && { peer: peer(folder) }) };
    points.push(
      await withServers(clients, async () => {
        const counts = {};
        const run = (side, work) => async () => {
          const { ms, count } = await work(clients, folder);
          counts[side] = count;
          return ms;
        };
        const times = await bestOf(manyRounds(rounds), { ours: run('ours', ours), theirs: run('theirs', theirs) });
        return { size: files, ...times, agrees: counts.ours() === counts.theirs() };
      }),
    );
  }
  return { name, of, against, points };
}

/** Small works are over at once and vary more. */
const manyRounds = (rounds) => (rounds > 1 ? rounds * 2 : 1);

const growingGrep = (context) =>
  overData(context, {
    name: 'grep',
    of: 'files',
    against: RIPGREP,
    places: DIVISORS.map(context.data.tree),
    ours: async ({ ours }) => {
      const { ms, result } = await ours.call('grep', { root: ROOT, pattern: NEEDLE.pattern, max_results: 10_000 });
      return { ms, count: () => result.structuredContent.total_matches };
    },
    theirs: async (_, folder) => {
      const { ms, found } = await ripgrep(NEEDLE, folder, { base: folder });
      return { ms, count: () => found().length };
    },
  });

const growingGlob = (context) =>
  overData(context, {
    name: 'glob',
    of: 'files',
    against: `${RIPGREP} --files`,
    places: DIVISORS.map(context.data.tree),
    ours: async ({ ours }) => {
      const { ms, result } = await ours.call('glob', { root: ROOT, pattern: GLOB, max_results: 10_000 });
      return { ms, count: () => result.structuredContent.total_matches };
    },
    theirs: async (_, folder) => {
      const { ms, found } = await ripgrepFiles(GLOB, folder);
      return { ms, count: () => found().length };
    },
  });

const growingList = (context) =>
  overData(context, {
    name: 'list',
    of: 'entries',
    against: REFERENCE,
    places: DIVISORS.map(context.data.wide),
    peer: referenceOnStdio,
    ours: async ({ ours }) => {
      const { ms, result } = await ours.call('list_folder', { root: ROOT, path: '.' });
      return { ms, count: () => result.structuredContent.count };
    },
    theirs: async ({ peer }, folder) => {
      const { ms, result } = await peer.call('list_directory_with_sizes', { path: folder });
      return { ms, count: () => result.structuredContent.content.match(/^\[FILE\]/gm).length };
    },
  });

const growingRead = (context) =>
  overSizes(context, {
    name: 'read',
    prepare: (file, text) => fs.writeFileSync(file, text),
    ours: (name) => ['read_file', { root: ROOT, path: name }],
    theirs: (file) => ['read_text_file', { path: file }],
    agrees: ({ text, results }) => results.every(({ structuredContent }) => structuredContent.content === text),
  });

const growingWrite = (context) =>
  overSizes(context, {
    name: 'write',
    ours: (name, text) => ['write_file', { root: ROOT, path: name, content: text }],
    theirs: (file, text) => ['write_file', { path: file, content: text }],
    agrees: ({ folders, file, text }) =>
      folders.every((folder) => fs.readFileSync(path.join(folder, file), 'utf8') === text),
  });

/** A curve over sizes of one file, which both servers hold in a folder of their own. */
async function overSizes({ scratch, rounds, times, config }, { name, prepare, ours, theirs, agrees }) {
  const folders = ['ours', 'theirs'].map((who) => fs.mkdtempSync(path.join(scratch, `${name}-${who}-`)));
  const clients = {
    ours: ringfenceOnStdio(config(folders[0], { durable_writes: false })),
    theirs: referenceOnStdio(folders[1]),
  };
  return withServers(clients, async () => {
    const points = [];
    for (const size of FILE_BYTES) {
      const text = asciiText(size).toString();
      const file = `${size}.txt`;
      for (const folder of folders) prepare?.(path.join(folder, file), text);
      const calls = { ours: ours(file, text), theirs: theirs(path.join(folders[1], file), text) };
      const last = {};
      const run = (who) => async () => {
        const count = times(20);
        let total = 0;
        for (let index = 0; index < count; index++) {
          const { ms, result } = await clients[who].call(...calls[who]);
          total += ms;
          last[who] = result;
        }
        return total / count;
      };
      const best = await bestOf(rounds, { ours: run('ours'), theirs: run('theirs') });
      points.push({ size, ...best, agrees: agrees({ folders, file, text, results: Object.values(last) }) });
    }
    return { name, of: 'bytes', against: REFERENCE, points };
  });
}
