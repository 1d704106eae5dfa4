// node bench/simulate-shards.js   prints the tables of docs/scale.md: tenants spread over volumes and replicas
import { fileURLToPath } from 'node:url';

const TENANTS = 5_000;
/** Load of tenants falls off as in Zipf's law: the nth busiest has 1/n^s of the busiest one's. */
const ZIPF = 0.8;

/** The load of each tenant, as a share of all. Which tenant is busy has nothing to do with its name. */
function tenantLoads(tenants = TENANTS, s = ZIPF) {
  const loads = Array.from({ length: tenants }, (_, rank) => 1 / (rank + 1) ** s);
  const sum = loads.reduce((total, load) => total + load, 0);
  return loads.map((load, rank) => ({ name: `tenant-${rank}`, load: load / sum }));
}

/** FNV-1a, with the finalizer of MurmurHash3, because FNV alone mixes the last characters badly. */
function hash(text) {
  let h = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) h = Math.imul(h ^ text.charCodeAt(index), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const places = (kind, count) => Array.from({ length: count }, (_, number) => `${kind}-${number}`);

/** Rendezvous hashing (Thaler and Ravishankar, 1998): the place whose hash with the key is the largest. */
function rendezvous(key, among) {
  let best = among[0];
  let most = -1;
  for (const place of among) {
    const weight = hash(`${place}/${key}`);
    if (weight > most) {
      most = weight;
      best = place;
    }
  }
  return best;
}

/** What most would write first: the remainder of the hash. */
function modulo(key, among) {
  return among[hash(key) % among.length];
}

/** Two places by rendezvous hashing, and of them the one with less load (power of two choices), remembered in a table. */
function twoChoices(loads, among) {
  const used = new Map(among.map((place) => [place, 0]));
  const chosen = new Map();
  for (const { name, load } of loads) {
    const first = rendezvous(name, among);
    const second = rendezvous(
      name,
      among.filter((place) => place !== first),
    );
    const place = used.get(second) < used.get(first) ? second : first;
    used.set(place, used.get(place) + load);
    chosen.set(name, place);
  }
  return chosen;
}

/** The load of the busiest place, as a multiple of what each would have if all had the same. */
function peak(loads, placeOf, among) {
  const used = new Map(among.map((place) => [place, 0]));
  for (const { name, load } of loads) used.set(placeOf(name), used.get(placeOf(name)) + load);
  return Math.max(...used.values()) * among.length;
}

/** The part of all tenants that get another place. */
function moved(loads, before, after) {
  return loads.filter(({ name }) => before(name) !== after(name)).length / loads.length;
}

/** One row for each way to spread tenants over volumes, before and after one volume is added. */
export function volumesTable(counts = [3, 8, 20, 50]) {
  const loads = tenantLoads();
  return counts.flatMap((count) => {
    const [few, more] = [places('volume', count), places('volume', count + 1)];
    const table = twoChoices(loads, few);
    const ways = {
      'remainder of a hash': [(name) => modulo(name, few), (name) => modulo(name, more)],
      rendezvous: [(name) => rendezvous(name, few), (name) => rendezvous(name, more)],
      // Who is in the table stays; only new tenants come to a new volume.
      'two choices, in a table': [(name) => table.get(name), (name) => table.get(name)],
    };
    return Object.entries(ways).map(([way, [before, after]]) => ({
      volumes: count,
      way,
      peak: peak(loads, before, few),
      moved: moved(loads, before, after),
    }));
  });
}

/** One row for each number of replicas: what a balancer that hashes tenants gives the busiest one, and one that does not. */
export function replicasTable(counts = [3, 9, 30, 60]) {
  const loads = tenantLoads();
  return counts.map((count) => {
    const [few, more] = [places('replica', count), places('replica', count + 1)];
    return {
      replicas: count,
      hashed: peak(loads, (name) => rendezvous(name, few), few),
      moved: moved(
        loads,
        (name) => rendezvous(name, few),
        (name) => rendezvous(name, more),
      ),
      // Each tenant on a set of three replicas (shuffle sharding): how many share all three with another busy one.
      shuffled: peakOfSets(loads, few, 3),
    };
  });
}

/** The peak if each tenant's load is spread evenly over the `size` replicas that rendezvous hashing ranks first for it. */
function peakOfSets(loads, among, size) {
  const used = new Map(among.map((place) => [place, 0]));
  for (const { name, load } of loads) {
    const ranked = among.toSorted((a, b) => hash(`${b}/${name}`) - hash(`${a}/${name}`));
    for (const place of ranked.slice(0, size)) used.set(place, used.get(place) + load / size);
  }
  return Math.max(...used.values()) * among.length;
}

const times = (value) => `${value.toFixed(2)}×`;
const percent = (value) => `${(value * 100).toFixed(1)}%`;
const table = (titles, rows) =>
  [titles, titles.map(() => '---:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The tables in Markdown. */
export function tables() {
  const volumes = table(
    ['volumes', 'placed by', 'load of the busiest', 'tenants that move when one is added'],
    volumesTable().map(({ volumes, way, peak, moved }) => [volumes, way, times(peak), percent(moved)]),
  );
  const replicas = table(
    ['replicas', 'one replica a tenant', 'three replicas a tenant', 'tenants that move when one is added'],
    replicasTable().map(({ replicas, hashed, shuffled, moved }) => [
      replicas,
      times(hashed),
      times(shuffled),
      percent(moved),
    ]),
  );
  return { volumes, replicas };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { volumes, replicas } = tables();
  console.log(`${TENANTS} tenants, Zipf ${ZIPF}\n\n${volumes}\n\n${replicas}`);
}
