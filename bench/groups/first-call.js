import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../clients/child.js';
import { SMALL_FILE_BYTES } from '../data.js';
import { NEEDLES } from '../needles.js';
import { EMPTY, emptyOnStdio } from '../peers/empty.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';

/** A model thinks before its first call. */
const PAUSE_MS = 1_000;
const CALLS = 10;
const RATIO = 3;
const [NEEDLE] = NEEDLES;

/**
 * The first call of a fresh server, a second after it was started, beside its tenth; and the memory that servers hold at that
 * moment, because what is done ahead of the first call is paid for there.
 */
export async function firstCall({ data, rounds, config }) {
  const { folder, files } = data.projectTree();
  const settings = config(folder);
  const pause = rounds > 1 ? PAUSE_MS : 0;
  /** `limit` is what the first call may take, in milliseconds, on the machine that the targets were set for. */
  const calls = [
    { tool: 'grep', args: { root: ROOT, pattern: NEEDLE.pattern, max_results: 10_000 }, limit: 100 },
    { tool: 'read_file', args: { root: ROOT, path: smallFile(folder) }, limit: 10 },
  ];
  const file = path.join(folder, smallFile(folder));
  /** The same on servers that do nothing ahead: what a pause costs on this machine, whoever serves. */
  const peers = [
    { name: REFERENCE, open: () => referenceOnStdio(folder), tool: 'read_text_file', args: { path: file } },
    { name: EMPTY, open: emptyOnStdio, tool: 'nothing', args: {} },
  ];
  const rows = [];
  const memory = { ours: 0, theirs: 0 };
  const best = {};
  for (const { tool, args, limit } of calls) {
    const ours = await runsOf({ open: () => ringfenceOnStdio(settings), tool, args, rounds, pause });
    memory.ours = Math.max(memory.ours, ours.memory);
    const { first, tenth, rested, agrees } = ours;
    best[tool] = ours;
    const work = `first ${tool}, ${files} files, 1 s after start`;
    const note = `${ours.firsts.map((ms) => ms.toFixed(1)).join(', ')} ms`;
    rows.push({ work, against: 'its tenth', ours: first, theirs: tenth, target: RATIO, agrees });
    rows.push({ work, against: 'its eleventh, after 1 s', ours: first, theirs: rested, agrees });
    rows.push({ work, against: `${limit} ms`, ours: first, theirs: limit, target: 1, agrees, note });
  }
  for (const { name, open, tool, args } of peers) {
    const peer = await runsOf({ open, tool, args, rounds, pause });
    if (name === REFERENCE) memory.theirs = peer.memory;
    const { first, tenth, rested, agrees } = peer;
    rows.push({
      work: 'first read_file',
      against: `first ${tool} of the ${name}`,
      ours: best.read_file.first,
      theirs: first,
      agrees,
    });
    const rest = `call after 1 s of rest, ${name}`;
    rows.push({ work: rest, against: 'its tenth', ours: rested, theirs: tenth, agrees });
  }
  rows.push({
    work: 'memory 1 s after start, the most of all rounds',
    against: REFERENCE,
    ...memory,
    unit: 'bytes',
    agrees: true,
  });
  return rows;
}

/** Starts a server anew for each round; of each call the best round counts. `firsts` are those of all rounds. */
async function runsOf({ open, tool, args, rounds, pause }) {
  const runs = [];
  for (let round = 0; round < rounds; round++) {
    runs.push(await fresh(open, pause, (client) => inTurn(client, { tool, args, pause })));
  }
  const results = runs.map(({ result }) => result);
  const firsts = results.map(({ times }) => times[0]).sort((a, b) => a - b);
  return {
    firsts,
    first: firsts[0],
    tenth: Math.min(...results.map(({ times }) => times.at(-1))),
    rested: Math.min(...results.map(({ rested }) => rested)),
    agrees: results.every(({ agrees }) => agrees),
    memory: Math.max(...runs.map(({ memory }) => memory)),
  };
}

/** Starts a server, waits until `pause` milliseconds have passed since, and returns its memory then and what `work` returns. */
async function fresh(open, pause, work) {
  const started = performance.now();
  const client = open();
  try {
    await client.initialize();
    await client.burst([{ method: 'tools/list' }]);
    await sleep(Math.max(0, pause - (performance.now() - started)));
    const memory = memoryOf(client.process, 'VmRSS') ?? Number.NaN;
    return { memory, result: await work(client) };
  } finally {
    await client.close();
  }
}

/** Times calls one after another, and one more after a pause: processors and caches forget what nobody uses. */
async function inTurn(client, { tool, args, pause }) {
  const answers = new Set();
  const timed = async () => {
    const { ms, result } = await client.call(tool, args);
    answers.add(JSON.stringify(result.content));
    return ms;
  };
  const times = [];
  for (let call = 0; call < CALLS; call++) times.push(await timed());
  await sleep(pause);
  const rested = await timed();
  return { times, rested, agrees: answers.size === 1 };
}

/** A text file of about 4 KiB. */
function smallFile(folder) {
  const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const distance = (name) => Math.abs(fs.statSync(path.join(folder, name)).size - SMALL_FILE_BYTES);
  return files.sort((a, b) => distance(a) - distance(b))[0];
}
