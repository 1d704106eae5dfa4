import fs from 'node:fs';
import path from 'node:path';
import { bestOf } from '../best-of.js';
import { toolCall } from '../clients/stdio.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { withServers } from '../with-servers.js';

const AGAINST = 'the same without history';
const KIB = 1024;
const NAMES = 20;
const FILES_A_FOLDER = 100;
/** So that old changes are not dropped while others are measured. */
const HISTORY = { history: { keep: '1d', max_bytes: '100GB' } };

/** What it costs that nothing is lost: the same work in a root that keeps its history and in one that does not. */
export async function history(context) {
  return [
    await writes(context, { kib: 4, count: 500, target: 1.15 }),
    await writes(context, { kib: 4, count: 50, durable: true, target: 1.15 }),
    await writes(context, { kib: 1024, count: 20, target: 1.15 }),
    await removal(context),
  ];
}

async function writes({ scratch, rounds, times, config }, { kib, count, durable = false, target }) {
  const folders = foldersFor(scratch, 'history-write-');
  const clients = onAndOff(folders, (folder, root) => config(folder, { durable_writes: durable }, root));
  const content = 'x'.repeat(kib * KIB);
  const name = (index) => `file-${index % NAMES}.txt`;
  const calls = times(count);
  const contender = (who) => async () => {
    let total = 0;
    for (let index = 0; index < calls; index++) {
      const { ms, results } = await clients[who].burst([
        toolCall('write_file', { root: ROOT, path: name(index), content }),
      ]);
      total += ms;
      results();
    }
    return total / calls;
  };
  return withServers(clients, async () => {
    const { on, off } = await bestOf(rounds, { on: contender('on'), off: contender('off') });
    const agrees = Object.values(folders).every(
      (folder) => fs.readFileSync(path.join(folder, name(0)), 'utf8') === content,
    );
    const size = kib >= KIB ? `${kib / KIB} MiB` : `${kib} KiB`;
    const flushed = durable ? 'fsync' : 'no fsync';
    return { work: `history: overwrite ${size}, ${flushed}`, against: AGAINST, ours: on, theirs: off, target, agrees };
  });
}

/** A removed folder is kept by one rename, however much is in it. */
async function removal({ scratch, rounds, times, config }) {
  const folders = foldersFor(scratch, 'history-remove-');
  const clients = onAndOff(folders, (folder, root) => config(folder, {}, root));
  const files = times(10_000);
  const contender = (who) => async () => {
    makeTree(path.join(folders[who], 'tree'), files);
    const { ms, result } = await clients[who].call('remove_folder', { root: ROOT, path: 'tree' });
    if (result.isError) throw new Error(JSON.stringify(result));
    return ms;
  };
  return withServers(clients, async () => {
    const { on, off } = await bestOf(rounds, { on: contender('on'), off: contender('off') });
    const agrees = Object.values(folders).every((folder) => !fs.existsSync(path.join(folder, 'tree')));
    const work = `history: remove a tree of ${files.toLocaleString('en')} files`;
    return { work, against: AGAINST, ours: on, theirs: off, target: 1, agrees };
  });
}

function foldersFor(scratch, prefix) {
  return {
    on: fs.mkdtempSync(path.join(scratch, `${prefix}on-`)),
    off: fs.mkdtempSync(path.join(scratch, `${prefix}off-`)),
  };
}

function onAndOff(folders, config) {
  return { on: ringfenceOnStdio(config(folders.on, HISTORY)), off: ringfenceOnStdio(config(folders.off, {})) };
}

function makeTree(top, files) {
  for (let index = 0; index < files; index++) {
    const folder = path.join(top, String(Math.floor(index / FILES_A_FOLDER)));
    if (index % FILES_A_FOLDER === 0) fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `${index}.txt`), 'x');
  }
}
