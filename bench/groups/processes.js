import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { Helper } from '../clients/helper.js';
import { mixedFolder } from '../data/mixed-folder.js';
import { startBalancer } from '../peers/haproxy.js';
import { ringfenceOnHttp } from '../peers/ringfence.js';

const TURN_MS = 4_000;
const COUNTS = [2, 4];
/** For each process: one that has fewer at once takes longer for each, however many there are. */
const CLIENTS_EACH = 25;
const COST_TARGET = 1.15;
const MANY_CLIENTS = 200;
const REPLICAS = 3;
/** What three replicas are for. Fewer cores than these, the balancer and the clients need cannot show it. */
const GAIN = 2.4;
const CORES_FOR_GAIN = 8;
const TICK_MS = 10;

const LOAD = fileURLToPath(new URL('../clients/load.js', import.meta.url));

/**
 * What coordination costs: the processor time of a call, of all processes together, against one process. It says the
 * same on a machine with few cores or many. Then what replicas behind a balancer do for many clients.
 */
export async function processes({ data, scratch, rounds, iterations, config }) {
  const settings = config(mixedFolder(data, scratch), { durable_writes: false });
  const ms = Math.max(50, TURN_MS * iterations);
  const rows = [];
  for (const count of COUNTS) {
    const one = await ringfenceOnHttp(settings);
    const several = await ringfenceOnHttp(settings, ['--processes', `${count}`]);
    const work = `processor time of a mixed call, ${count} processes`;
    rows.push({ ...(await costs({ one, several, count, rounds, ms })), work, against: 'one process' });
  }
  const missing = spawnSync('haproxy', ['-v']).error && 'haproxy is not installed';
  if (missing === undefined) rows.push(await replicas({ settings, scratch, rounds, ms }));
  return rows;
}

/** Turns of both, one after another; of each side the best round counts. */
async function costs({ one, several, count, rounds, ms }) {
  const load = new Helper(LOAD);
  const best = { one: Number.POSITIVE_INFINITY, several: Number.POSITIVE_INFINITY };
  const failures = [];
  const turn = async (name, server, time) => {
    const clients = CLIENTS_EACH * (server === several ? count : 1);
    await load.ask({ open: { url: server.url, era: '2026', clients } });
    const before = processorMs(server.pid);
    const done = await load.ask({ run: { calls: 'mixed', ms: time } });
    // At least a tick, or a turn of a few milliseconds costs nothing.
    const used = Math.max(TICK_MS, processorMs(server.pid) - before);
    await load.ask({ close: true });
    failures.push(...done.failures);
    return { name, perCall: used / done.calls };
  };
  try {
    // Each process has to warm up.
    if (rounds > 1)
      for (const server of [one, ...Array.from({ length: count }, () => several)]) await turn('', server, ms);
    for (let round = 0; round < rounds; round++) {
      const order = [
        ['one', one],
        ['several', several],
      ];
      for (const [name, server] of round % 2 === 0 ? order : order.reverse()) {
        best[name] = Math.min(best[name], (await turn(name, server, ms)).perCall);
      }
    }
    const note = failures[0] ?? 'all processes together';
    return { ours: best.several, theirs: best.one, target: COST_TARGET, agrees: failures.length === 0, note };
  } finally {
    await Promise.all([load.close(), one.close(), several.close()]);
  }
}

/** Three replicas against one, both behind HAProxy with the config of deploy/. */
async function replicas({ settings, scratch, rounds, ms }) {
  const servers = await Promise.all(Array.from({ length: REPLICAS }, () => ringfenceOnHttp(settings)));
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  const one = await startBalancer(scratch, ports.slice(0, 1));
  const all = await startBalancer(scratch, ports);
  const load = new Helper(LOAD);
  const best = { one: 0, all: 0 };
  const failures = [];
  const turn = async (name, url) => {
    await load.ask({ open: { url, era: '2026', clients: MANY_CLIENTS } });
    const done = await load.ask({ run: { calls: 'mixed', ms } });
    await load.ask({ close: true });
    failures.push(...done.failures);
    best[name] = Math.max(best[name], (done.calls / done.ms) * 1000);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      await turn('one', one.url);
      await turn('all', all.url);
    }
    const cores = os.availableParallelism();
    return {
      work: `mixed calls of ${MANY_CLIENTS} clients, ${REPLICAS} replicas behind HAProxy, each`,
      against: 'one replica behind it',
      ours: 1000 / best.all,
      theirs: 1000 / best.one,
      target: cores >= CORES_FOR_GAIN ? 1 / GAIN : 1,
      agrees: failures.length === 0,
      note: failures[0] ?? `${cores} cores`,
    };
  } finally {
    await Promise.all([load, one, all, ...servers].map((closable) => closable.close()));
  }
}

/** The processor time that a process and its children have used. Threads are part of their process. */
function processorMs(pid) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' '))].reduce((sum, each) => {
    const stat = fs.readFileSync(`/proc/${each}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }, 0);
}
