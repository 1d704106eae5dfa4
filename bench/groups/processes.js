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
 * What coordination costs: the processor time of a call, of all processes together, against as many servers that know
 * nothing of each other, and against one process, which has the cores to itself. Then what replicas behind a balancer
 * do for many clients.
 */
export async function processes({ data, scratch, rounds, iterations, config }) {
  const settings = config(mixedFolder(data, scratch), { durable_writes: false });
  const ms = Math.max(50, TURN_MS * iterations);
  const rows = [];
  for (const count of COUNTS) {
    const one = await ringfenceOnHttp(settings);
    const several = await ringfenceOnHttp(settings, ['--processes', `${count}`]);
    const apart = await Promise.all(Array.from({ length: count }, () => ringfenceOnHttp(settings)));
    const { best, failures } = await costs({ one: [one], several: [several], apart }, { count, rounds, ms });
    const work = `processor time of a mixed call, ${count} processes`;
    const row = {
      work,
      ours: best.several,
      agrees: failures.length === 0,
      note: failures[0] ?? 'all processes together',
    };
    // Servers apart share the cores and caches as well, but nothing coordinates them.
    rows.push({ ...row, against: `${count} servers apart`, theirs: best.apart, target: COST_TARGET });
    rows.push({ ...row, against: 'one process', theirs: best.one, target: COST_TARGET });
  }
  const missing = spawnSync('haproxy', ['-v']).error && 'haproxy is not installed';
  if (missing === undefined) rows.push(await replicas({ settings, scratch, rounds, ms }));
  return rows;
}

/** Turns of all sides, one after another; of each side, a list of servers, the best round counts. */
async function costs(sides, { count, rounds, ms }) {
  const load = new Helper(LOAD);
  const best = Object.fromEntries(Object.keys(sides).map((name) => [name, Number.POSITIVE_INFINITY]));
  const failures = [];
  const turn = async (name) => {
    const servers = sides[name];
    const clients = CLIENTS_EACH * (name === 'one' ? 1 : count);
    await load.ask({ open: { urls: servers.map(({ url }) => url), era: '2026', clients } });
    const used = () => servers.reduce((sum, { pid }) => sum + processorMs(pid), 0);
    const before = used();
    const done = await load.ask({ run: { calls: 'mixed', ms } });
    // At least a tick, or a turn of a few milliseconds costs nothing.
    const perCall = Math.max(TICK_MS, used() - before) / done.calls;
    await load.ask({ close: true });
    failures.push(...done.failures);
    return perCall;
  };
  try {
    // Each process has to warm up.
    if (rounds > 1)
      for (const name of Object.keys(sides))
        for (let times = name === 'one' ? 1 : count; times > 0; times--) await turn(name);
    for (let round = 0; round < rounds; round++) {
      const order = Object.keys(sides);
      for (const name of round % 2 === 0 ? order : order.reverse()) best[name] = Math.min(best[name], await turn(name));
    }
    return { best, failures };
  } finally {
    await Promise.all([load, ...Object.values(sides).flat()].map((closable) => closable.close()));
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
    await load.ask({ open: { urls: [url], era: '2026', clients: MANY_CLIENTS } });
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
