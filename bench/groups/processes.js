import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { Helper } from '../clients/helper.js';
import { mixedFolder } from '../data/mixed-folder.js';
import { startBalancer } from '../peers/haproxy.js';
import { startRedis } from '../peers/redis.js';
import { ringfenceOnHttp } from '../peers/ringfence.js';

const TURN_MS = 4_000;
const COUNTS = [2, 4];
/** For each process: one that has fewer at once takes longer for each, however many there are. */
const CLIENTS_EACH = 25;
const COST_TARGET = 1.15;
const MANY_CLIENTS = 200;
const REPLICAS = [2, 3, 4];
/** What three replicas are for. Fewer cores than these, the balancer and the clients need cannot show it. */
const GAINING = 3;
const GAIN = 2.4;
const CORES_FOR_GAIN = 8;
const TICK_MS = 10;
/** The environment variable with the secret of the replicas. */
const SECRET = 'RINGFENCE_BENCH_SECRET';

const LOAD = fileURLToPath(new URL('../clients/load.js', import.meta.url));

/**
 * What coordination costs: the time for each call against one process, and the processor time of a call, of all processes
 * together, against as many servers that know nothing of each other, and against one process, which has the cores to
 * itself. Then what replicas behind a balancer do for many clients.
 */
export async function processes({ data, scratch, rounds, iterations, config }) {
  const folder = mixedFolder(data, scratch);
  const settings = config(folder, { durable_writes: false });
  const ms = Math.max(50, TURN_MS * iterations);
  const rows = [];
  for (const count of COUNTS) {
    const one = await ringfenceOnHttp(settings);
    const several = await ringfenceOnHttp(settings, ['--processes', `${count}`]);
    const apart = await Promise.all(Array.from({ length: count }, () => ringfenceOnHttp(settings)));
    const { best, failures } = await costs({ one: [one], several: [several], apart }, { count, rounds, ms });
    const row = { agrees: failures.length === 0, target: COST_TARGET };
    rows.push({
      ...row,
      work: `mixed calls, ${count} processes, each`,
      against: 'one process',
      ours: best.several.elapsed,
      theirs: best.one.elapsed,
      note: failures[0] ?? `${os.availableParallelism()} cores`,
    });
    const processor = {
      ...row,
      work: `processor time of a mixed call, ${count} processes`,
      ours: best.several.processor,
    };
    const note = failures[0] ?? 'all processes together';
    // Servers apart share the cores and caches as well, but nothing coordinates them.
    rows.push({ ...processor, against: `${count} servers apart`, theirs: best.apart.processor, note });
    rows.push({ ...processor, against: 'one process', theirs: best.one.processor, note });
  }
  const missing = spawnSync('haproxy', ['-v']).error && 'haproxy is not installed';
  if (missing === undefined) rows.push(...(await replicas({ config, folder, scratch, rounds, ms })));
  return rows;
}

/** Turns of all sides, one after another; of each side, a list of servers, the best round counts. */
async function costs(sides, { count, rounds, ms }) {
  const load = new Helper(LOAD);
  const none = { elapsed: Number.POSITIVE_INFINITY, processor: Number.POSITIVE_INFINITY };
  const best = Object.fromEntries(Object.keys(sides).map((name) => [name, none]));
  const failures = [];
  const turn = async (name) => {
    const servers = sides[name];
    const clients = CLIENTS_EACH * (name === 'one' ? 1 : count);
    await load.ask({ open: { urls: servers.map(({ url }) => url), era: '2026', clients } });
    const used = () => servers.reduce((sum, { pid }) => sum + processorMs(pid), 0);
    const before = used();
    const done = await load.ask({ run: { calls: 'mixed', ms } });
    // At least a tick, or a turn of a few milliseconds costs nothing.
    const processor = Math.max(TICK_MS, used() - before) / done.calls;
    await load.ask({ close: true });
    failures.push(...done.failures);
    return { elapsed: done.ms / done.calls, processor };
  };
  try {
    // Each process has to warm up.
    if (rounds > 1)
      for (const name of Object.keys(sides))
        for (let times = name === 'one' ? 1 : count; times > 0; times--) await turn(name);
    for (let round = 0; round < rounds; round++) {
      const order = Object.keys(sides);
      for (const name of round % 2 === 0 ? order : order.reverse()) {
        const { elapsed, processor } = await turn(name);
        best[name] = {
          elapsed: Math.min(best[name].elapsed, elapsed),
          processor: Math.min(best[name].processor, processor),
        };
      }
    }
    return { best, failures };
  } finally {
    await Promise.all([load, ...Object.values(sides).flat()].map((closable) => closable.close()));
  }
}

/** Several replicas against one, all behind HAProxy with the config of deploy/, and with a common Redis where there is one. */
async function replicas({ config, folder, scratch, rounds, ms }) {
  const redis = await startRedis(scratch);
  process.env[SECRET] = 'the secret of all replicas of the benchmark';
  const file = config(folder, {
    durable_writes: false,
    ...(redis && { cluster: { secret_env: SECRET, redis: redis.url } }),
  });
  const servers = await Promise.all(Array.from({ length: Math.max(...REPLICAS) }, () => ringfenceOnHttp(file)));
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  const counts = [1, ...REPLICAS];
  const balancers = await Promise.all(counts.map((count) => startBalancer(scratch, ports.slice(0, count))));
  const load = new Helper(LOAD);
  const best = counts.map(() => Number.POSITIVE_INFINITY);
  const failures = [];
  const turn = async (index) => {
    await load.ask({ open: { urls: [balancers[index].url], era: '2026', clients: MANY_CLIENTS } });
    const done = await load.ask({ run: { calls: 'mixed', ms } });
    await load.ask({ close: true });
    failures.push(...done.failures);
    best[index] = Math.min(best[index], done.ms / done.calls);
  };
  try {
    for (let round = 0; round < rounds; round++) for (const index of counts.keys()) await turn(index);
    const cores = os.availableParallelism();
    return REPLICAS.map((count, index) => ({
      work: `mixed calls of ${MANY_CLIENTS} clients, ${count} replicas behind HAProxy, each`,
      against: 'one replica behind it',
      ours: best[index + 1],
      theirs: best[0],
      target: targetOf(count, cores),
      agrees: failures.length === 0,
      note: failures[0] ?? `${cores} cores, ${redis === undefined ? 'nothing in common' : 'leases of Redis'}`,
    }));
  } finally {
    await Promise.all([load, ...balancers, ...servers].map((closable) => closable.close()));
    await redis?.close();
  }
}

function targetOf(count, cores) {
  if (count !== GAINING) return COST_TARGET;
  return cores >= CORES_FOR_GAIN ? 1 / GAIN : 1;
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
