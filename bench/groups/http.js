import { fileURLToPath } from 'node:url';
import { Helper } from '../clients/helper.js';
import { percentile } from '../clients/percentile.js';
import { mixedFolder } from '../data/mixed-folder.js';
import { EMPTY, emptyOnHttp } from '../peers/empty.js';
import { ringfenceOnHttp } from '../peers/ringfence.js';

const CLIENTS = [1, 10, 50, 200];
const ERAS = { 2025: 'sessions', 2026: 'stateless' };
const TURN_MS = 600;
/** The rows of the report: cost at 50 clients, health at 200. */
const COST_AT = 50;
const COST_TARGET = 1.3;
const HEALTH_AT = 200;
const HEALTH_MS = 50;

const script = (name) => fileURLToPath(new URL(`../clients/${name}`, import.meta.url));

/**
 * More and more clients at once, in both eras of the protocol, each with one call on the way, while somebody asks for
 * the server's health. Throughput is that of the best round; percentiles are over the calls of all rounds.
 */
export async function overHttp({ data, scratch, rounds, iterations, config, addLoad }) {
  const opened = [];
  const hold = (closable) => opened.push(closable) && closable;
  try {
    const settings = config(mixedFolder(data, scratch), { durable_writes: false });
    const servers = {
      ours: { ...hold(await ringfenceOnHttp(settings)), calls: 'mixed' },
      theirs: { ...hold(await emptyOnHttp()), calls: 'nothing' },
    };
    const load = hold(new Helper(script('load.js')));
    const probe = hold(new Helper(script('probe.js')));
    const ms = Math.max(30, TURN_MS * iterations);
    const rows = [];
    for (const [era, title] of Object.entries(ERAS)) {
      for (const clients of CLIENTS) {
        const loads = await contest({ servers, load, probe, era, clients, rounds, ms });
        addLoad({ era: title, clients, ...loads });
        rows.push(...rowsOf(title, clients, loads));
      }
    }
    return rows;
  } finally {
    await Promise.all(opened.map((closable) => closable.close()));
  }
}

async function contest({ servers, load, probe, era, clients, rounds, ms }) {
  const sums = { ours: new Sum(), theirs: new Sum() };
  const turn = async (name, time) => {
    const { url, calls } = servers[name];
    await load.ask({ open: { urls: [name === 'theirs' ? `${url}/${era}` : url], era, clients } });
    const health = probe.ask({ url: new URL('/health', url).href, ms: time });
    sums[name].add(await load.ask({ run: { calls, ms: time } }), await health);
    await load.ask({ close: true });
  };
  for (const name of rounds > 1 ? ['ours', 'theirs'] : []) await turn(name, ms / 4);
  sums.ours = new Sum();
  sums.theirs = new Sum();
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']) await turn(name, ms);
  }
  return { ours: sums.ours.figures(), theirs: sums.theirs.figures() };
}

class Sum {
  #perSecond = 0;
  #calls = [];
  #health = [];
  #failures = [];

  add({ calls, ms, latencies, failures }, health) {
    this.#perSecond = Math.max(this.#perSecond, (calls / ms) * 1000);
    this.#calls.push(...latencies);
    this.#health.push(...health);
    this.#failures.push(...failures);
  }

  figures() {
    const calls = this.#calls.sort((a, b) => a - b);
    const health = this.#health.sort((a, b) => a - b);
    return {
      perSecond: this.#perSecond,
      p50: percentile(calls, 50),
      p99: percentile(calls, 99),
      health50: percentile(health, 50),
      health99: percentile(health, 99),
      calls: calls.length,
      failures: this.#failures.length,
      failure: this.#failures[0],
    };
  }
}

function rowsOf(era, clients, { ours, theirs }) {
  const agrees = ours.failures + theirs.failures === 0;
  const note = ours.failure ?? theirs.failure ?? 'no errors';
  if (clients === COST_AT) {
    const work = `mixed calls over HTTP, ${clients} at once, ${era}, each`;
    const times = { ours: 1000 / ours.perSecond, theirs: 1000 / theirs.perSecond };
    return [{ work, against: EMPTY, ...times, target: COST_TARGET, agrees, note }];
  }
  if (clients === HEALTH_AT) {
    const work = `/health at p99 while ${clients} clients call, ${era}`;
    return [{ work, against: `${HEALTH_MS} ms`, ours: ours.health99, theirs: HEALTH_MS, target: 1, agrees, note }];
  }
  return agrees ? [] : [{ work: `${clients} clients, ${era}`, against: EMPTY, ours: 1, theirs: 1, agrees, note }];
}
