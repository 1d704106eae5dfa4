import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { LANDLOCK_PROBLEM } from '../support/landlock.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Tries on SIGWINCH what a process must not do, and writes how that went. A URL, because confined workers read no file for it. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
import fs from 'node:fs';
import { spawnSync } from 'node:child_process';
const outcome = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
process.on('SIGWINCH', () => {
  const { PROBE_FILE } = process.env;
  const read = outcome(() => fs.readFileSync(PROBE_FILE));
  const write = outcome(() => fs.writeFileSync(PROBE_FILE, 'changed'));
  const run = spawnSync('/bin/true').error?.code ?? 'done';
  const node = spawnSync(process.execPath, ['--version']).error?.code ?? 'done';
  const probe = process.send === undefined ? 'parent' : 'worker';
  process.stderr.write(JSON.stringify({ probe, pid: process.pid, read, write, run, node }) + '\\n');
});
`)}`;

test.skipIf(LANDLOCK_PROBLEM)(
  'the kernel confines the parent and its workers, also one that takes the place of another',
  async () => {
    const base = tempDir('ringfence-process-landlock-');
    const [dir, secret] = [path.join(base, 'root'), path.join(base, 'secret.txt')];
    fs.mkdirSync(dir);
    fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
    fs.writeFileSync(secret, 'untouched');
    await using server = await startServer({
      roots: [{ name: 'r', path: dir }],
      processes: 2,
      era: 'modern',
      config: { hardening: { landlock: 'require' } },
      env: { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: secret },
    });
    const [killed = 0] = server.workers();
    process.kill(killed, 'SIGKILL');
    await expect
      .poll(() => server.workers().length === 2 && !server.workers().includes(killed), { timeout: 15_000 })
      .toBe(true);
    const client = new RawClient(server.url);
    for (const content of ['one', 'two']) await client.call('write_file', { root: 'r', path: 'b.txt', content });
    client.close();
    const latest = (): object[] => {
      // A worker ignores it until it runs, and is confined by what its parent may do until it has started.
      for (const pid of [server.pid, ...server.workers()]) process.kill(pid, 'SIGWINCH');
      const probes = server.logs().filter(({ probe }) => probe !== undefined);
      const last = new Map(
        probes.map(({ pid, probe, read, write, run, node }) => [pid, { probe, read, write, run, node }]),
      );
      return [...last.values()].sort((a, b) => a.probe.localeCompare(b.probe));
    };
    const denied = { read: 'EACCES', write: 'EACCES', run: 'EACCES' };
    await expect.poll(latest, { timeout: 20_000, interval: 500 }).toEqual([
      { probe: 'parent', ...denied, node: 'done' },
      { probe: 'worker', ...denied, node: 'EACCES' },
      { probe: 'worker', ...denied, node: 'EACCES' },
    ]);
    expect(fs.readFileSync(secret, 'utf8')).toBe('untouched');
  },
);

test.skipIf(LANDLOCK_PROBLEM)(
  'a root that the jail cannot be widened to is one line, and the rest is served',
  async () => {
    const [dir, other, more] = [1, 2, 3].map(() => tempDir('ringfence-process-roots-')) as [string, string, string];
    fs.mkdirSync(path.join(dir, 'inner'));
    await using server = await startServer({ roots: [{ name: 'r', path: dir }], processes: 2, era: 'modern' });
    const roots = { r: dir, inner: path.join(dir, 'inner'), other, more };
    const written = Object.entries(roots).map(([name, folder]) => ({ name, path: folder, allowed_tools: ['*'] }));
    fs.writeFileSync(server.config, JSON.stringify({ host: '127.0.0.1', port: 0, roots: written }));
    server.signal('SIGHUP');
    const line = await server.waitForLog(({ msg }) => String(msg).startsWith('roots need a restart'));
    expect(line.roots).toEqual(['other', 'more']);
    const client = new RawClient(server.url);
    const { roots: listed } = await client.call('list_roots', {});
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['r', 'inner']);
    client.close();
  },
);
