import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { bestOf } from '../best-of.js';
import { HttpClient } from '../clients/http.js';
import { smallName } from '../data.js';
import { EMPTY, emptyOnHttp } from '../peers/empty.js';
import { ROOT, ringfenceOnHttp } from '../peers/ringfence.js';

const CALLERS = 50;
const FOLDER_ENTRIES = 20;

/** What the callers ask for in turn: mostly reads, as agents do. */
const MIX = [
  (index) => ['read_file', { root: ROOT, path: `${smallName(index)}` }],
  (index) => ['stat_file', { root: ROOT, path: `${smallName(index)}` }],
  (index) => ['read_file', { root: ROOT, path: `${smallName(index)}`, offset_lines: 5, limit_lines: 10 }],
  () => ['list_folder', { root: ROOT, path: 'folder' }],
  (index) => ['hash_file', { root: ROOT, path: `${smallName(index)}`, algorithm: 'sha256' }],
  (index) => ['write_file', { root: ROOT, path: `written/${index % CALLERS}.txt`, content: 'hello' }],
];

/** Fifty clients at a time, in both eras of the protocol, each with one call on the way. */
export async function overHttp({ data, scratch, rounds, times, config }) {
  const folder = fs.mkdtempSync(path.join(scratch, 'http-'));
  fs.cpSync(data.small().folder, folder, { recursive: true });
  fs.mkdirSync(path.join(folder, 'folder'));
  for (let index = 0; index < FOLDER_ENTRIES; index++)
    fs.writeFileSync(path.join(folder, 'folder', `${index}.txt`), 'x');

  const servers = [];
  try {
    const ours = await ringfenceOnHttp(config(folder, { durable_writes: false }));
    servers.push(ours);
    const theirs = await emptyOnHttp();
    servers.push(theirs);
    const rows = [];
    for (const era of ['2025', '2026']) {
      const failures = [];
      const best = await withClients([ours.url, `${theirs.url}/${era}`], era, async ([us, them]) => {
        const mixed = (index) => MIX[index % MIX.length](index);
        return bestOf(rounds, {
          ours: () => together(us, mixed, times(1_000), failures),
          theirs: () => together(them, () => ['nothing', {}], times(1_000), failures),
        });
      });
      const work = `mixed calls over HTTP, ${CALLERS} at once, ${era === '2025' ? 'sessions' : 'stateless'}, each`;
      rows.push({
        work,
        against: EMPTY,
        ...best,
        target: 1.3,
        agrees: failures.length === 0,
        note: failures[0] ?? 'no errors',
      });
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

async function withClients(urls, era, work) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CALLERS });
  try {
    const clients = urls.map((url) => Array.from({ length: CALLERS }, () => new HttpClient(url, { era, agent })));
    await Promise.all(clients.flat().map((client) => client.open()));
    return await work(clients);
  } finally {
    agent.destroy();
  }
}

/** Milliseconds a call, when every client has one call on the way until `count` were made. */
async function together(clients, callOf, count, failures) {
  const answers = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (next < count) answers.push(await client.call(...callOf(next++)));
    }),
  );
  const ms = performance.now() - started;
  for (const { result } of answers) {
    try {
      result();
    } catch (error) {
      failures.push(error.message);
    }
  }
  return ms / count;
}
