import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { LANDLOCK_PROBLEM } from '../support/landlock.ts';
import { type ConfigKeys, ReloadableServer } from '../support/reloadable-server.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const base = tempDir('ringfence-log-file-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let root: string;
let logs: string;
let file: string;
let config: ConfigKeys;
beforeEach(() => {
  const place = fs.mkdtempSync(path.join(base, 'case-'));
  [root, logs] = ['root', 'logs'].map((name) => path.join(place, name)) as [string, string];
  for (const folder of [root, logs]) fs.mkdirSync(folder);
  file = path.join(logs, 'ringfence.log');
  fs.writeFileSync(path.join(root, 'a.txt'), 'text');
  config = { log_file: file, roots: [{ name: 'root', path: root, allowed_tools: ['*'] }] };
});

interface Line {
  readonly msg: string;
  readonly path?: string;
  readonly url?: string;
}

/** The lines of log files, each of which must be JSON. */
function linesOf(...files: string[]): Line[] {
  return files.flatMap((name) =>
    fs
      .readFileSync(name, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line),
  );
}

/** Starts a server that logs to the file, and connects a client. */
async function started(keys: ConfigKeys = config) {
  const server = new ReloadableServer(keys, {});
  const url = await vi.waitFor(() => {
    const found = linesOf(file).find(({ msg }) => msg === 'listening')?.url;
    return found ?? expect.fail(server.log.text);
  }, 15_000);
  const { connectHttp } = await import('../support/tool-client.ts');
  const client = await connectHttp(url);
  return {
    server,
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const JAILS = [
  ['off', undefined],
  ['require', LANDLOCK_PROBLEM],
] as const;

for (const [landlock, problem] of JAILS) {
  const skipped = problem === undefined ? '' : ` (skipped: ${problem})`;
  test.skipIf(problem)(
    `Landlock ${landlock}: files renamed under calls lose no line and have none twice${skipped}`,
    { timeout: 60_000 },
    async () => {
      await using running = await started({ ...config, hardening: { landlock } });
      const { server, client } = running;
      expect(fs.statSync(file).mode & 0o777).toBe(0o600);
      const calls = 400;
      const rotated: string[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < calls) {
          const name = `f-${next}`;
          next += 1;
          await client.call('stat_file', { root: 'root', path: name });
        }
      };
      const rotate = async (): Promise<void> => {
        while (next < calls) {
          rotated.push(`${file}.${rotated.length}`);
          fs.renameSync(file, rotated.at(-1) as string);
          server.hangUp();
          await vi.waitFor(() => expect(fs.existsSync(file)).toBe(true), 10_000);
        }
      };
      await Promise.all([worker(), worker(), worker(), worker(), rotate()]);
      await client[Symbol.asyncDispose]();
      expect(await server.stop()).toBe(0);
      const paths = linesOf(...rotated, file).flatMap(({ msg, path: about }) => (msg === 'call' ? [about] : []));
      expect(rotated.length).toBeGreaterThan(2);
      expect(paths).toHaveLength(calls);
      expect(new Set(paths).size).toBe(calls);
      for (const name of [...rotated, file]) expect(fs.statSync(name).mode & 0o777).toBe(0o600);
      expect(server.log.text).toBe('');
      recordFigure(`log file, Landlock ${landlock}: renamed under calls`, rotated.length, 'times');
    },
  );
}

test('a folder that vanishes is one warning, and the lines come when it is back', async () => {
  await using running = await started({ ...config, hardening: { landlock: 'off' } });
  const { server, client } = running;
  fs.rmSync(logs, { recursive: true });
  for (let i = 0; i < 3; i += 1) {
    await client.call('stat_file', { root: 'root', path: `lost-${i}` });
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  await vi.waitFor(() => expect(server.log.text).toContain('cannot be written (ENOENT)'), 10_000);
  await client.call('stat_file', { root: 'root', path: 'kept' });
  fs.mkdirSync(logs);
  await vi.waitFor(() => expect(linesOf(file).map((line) => line.path)).toContain('kept'), 10_000);
  await client.call('stat_file', { root: 'root', path: 'later' });
  await vi.waitFor(() => expect(linesOf(file).map((line) => line.path)).toContain('later'), 10_000);
  expect(server.log.text.match(/cannot be written/g)).toHaveLength(1);
});

test('a file that cannot be created anew leaves the log in the renamed one', async () => {
  await using running = await started({ ...config, hardening: { landlock: 'off' } });
  const { server, client } = running;
  fs.renameSync(logs, `${logs}-renamed`);
  server.hangUp();
  await vi.waitFor(() => expect(server.log.text).toContain('cannot be opened anew (ENOENT)'), 10_000);
  await client.call('stat_file', { root: 'root', path: 'later' });
  const renamed = path.join(`${logs}-renamed`, 'ringfence.log');
  await vi.waitFor(() => expect(linesOf(renamed).map((line) => line.path)).toContain('later'), 10_000);
});

test('a full disk does not stop the server', async () => {
  // A limit of the file's size stands for the disk: the write fails in the middle of a line.
  await using running = await started({ ...config, hardening: { landlock: 'off' } });
  const { server, client } = running;
  const { execFileSync } = await import('node:child_process');
  const limit = (bytes: string): void => {
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  };
  limit(String(fs.statSync(file).size + 100));
  for (let i = 0; i < 20; i += 1) await client.call('stat_file', { root: 'root', path: `f-${i}` });
  await vi.waitFor(() => expect(server.log.text).toContain('cannot be written (EFBIG)'), 10_000);
  // A line that was begun in one file does not end in another.
  fs.renameSync(file, `${file}.1`);
  server.hangUp();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  limit('unlimited');
  await vi.waitFor(() => expect(server.log.text).toContain('is written again'), 10_000);
  const paths = linesOf(`${file}.1`, file).flatMap(({ msg, path: about }) => (msg === 'call' ? [about] : []));
  expect(paths).toEqual(Array.from({ length: 20 }, (_, i) => `f-${i}`));
});

test.each([
  ['a root', () => path.join(root, 'x.log'), 'lies in root root'],
  ['a root by a link', () => path.join(base, 'way-in', 'x.log'), 'lies in root root'],
  ['a root, as a link to nothing yet', () => path.join(logs, 'link.log'), 'lies in root root'],
  ['a folder that does not exist', () => path.join(base, 'nowhere', 'x.log'), 'cannot be opened: ENOENT'],
  ['a folder', () => logs, 'cannot be opened: EISDIR'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config file
  ['an unset variable', () => '${RINGFENCE_NOT_SET}/x.log', 'the environment variable RINGFENCE_NOT_SET is not set'],
])('a log file in %s stops the start with one line on stderr', async (_, place, problem) => {
  fs.rmSync(path.join(base, 'way-in'), { force: true });
  fs.symlinkSync(root, path.join(base, 'way-in'));
  fs.symlinkSync(path.join(root, 'target.log'), path.join(logs, 'link.log'));
  const { code, stderr } = await runRingfence([
    'serve',
    '--config',
    writeConfig({ ...config, port: 0, log_file: place() }),
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^ringfence: .*log_file: .*\n$/);
  expect(stderr).toContain(problem);
});

test('a path may begin with ~, or with a variable', async () => {
  const keys = {
    ...config,
    host: '127.0.0.1',
    log_file: '~/own.log',
    roots: [{ name: 'r', path: `$\{WHERE}/root`, allowed_tools: ['*'] }],
  };
  await using server = new ReloadableServer(keys, { env: { HOME: logs, WHERE: path.dirname(root) } });
  await vi.waitFor(() => expect(linesOf(path.join(logs, 'own.log'))[0]?.msg).toBe('listening'), 15_000);
  expect(server.log.text).toBe('');
});

test('removing the log from a full disk makes room for a new one', async () => {
  await using running = await started({ ...config, hardening: { landlock: 'off' } });
  const { server, client } = running;
  const { execFileSync } = await import('node:child_process');
  // A limit of the file's size stands for the disk: there is room again only in another file.
  const bytes = fs.statSync(file).size + 4_000;
  execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  for (let i = 0; i < 20; i += 1) await client.call('stat_file', { root: 'root', path: `f-${i}` });
  await vi.waitFor(() => expect(server.log.text).toContain('cannot be written (EFBIG)'), 10_000);
  const kept = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1).length;
  fs.rmSync(file);
  await vi.waitFor(() => expect(server.log.text).toContain('is written again'), 10_000);
  const paths = linesOf(file).flatMap(({ msg, path: about }) => (msg === 'call' ? [about] : []));
  expect(kept).toBeGreaterThan(1);
  expect(paths).toEqual(Array.from({ length: paths.length }, (_, i) => `f-${20 - paths.length + i}`));
  expect(paths.length).toBeGreaterThanOrEqual(20 - kept);
});
