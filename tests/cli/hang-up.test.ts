import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { noTerminal } from '../support/pty.ts';
import { ProcessLog, spawnRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const WAIT = { timeout: 15_000, interval: 50 };
const base = tempDir('ringfence-hang-up-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let root: string;
let log: string;
let config: string;
beforeEach(() => {
  const place = fs.mkdtempSync(path.join(base, 'case-'));
  root = path.join(place, 'root');
  fs.mkdirSync(root);
  log = path.join(place, 'ringfence.log');
  config = writeConfig({
    host: '127.0.0.1',
    port: 0,
    log_file: log,
    roots: [{ name: 'r', path: root, allowed_tools: ['*'] }],
  });
  return () => {
    const left = serverPid();
    if (left !== 0) process.kill(left, 'SIGKILL');
    fs.rmSync(path.dirname(config), { recursive: true, force: true });
  };
});

/** A terminal of its own with a command on it. Killing it hangs up the terminal. */
class Terminal implements AsyncDisposable {
  screen = '';
  readonly #script: ChildProcess;

  constructor(command: string) {
    this.#script = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#script.stdout?.on('data', (chunk: Buffer) => {
      this.screen += chunk;
    });
  }

  async hangUp(): Promise<void> {
    this.#script.kill('SIGKILL');
    await once(this.#script, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#script.exitCode === null && this.#script.signalCode === null) await this.hangUp();
  }
}

const quoted = (...words: string[]): string => words.map((word) => `'${word}'`).join(' ');
const serve = (): string => quoted(process.execPath, BIN, 'serve', '--config', config);

const lines = (): { msg: string; signal?: string }[] =>
  fs.existsSync(log)
    ? fs
        .readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
const logged = (msg: string) => vi.waitFor(() => expect(lines().map((line) => line.msg)).toContain(msg), WAIT);

/** The process that serves the config: the one that has it among its arguments, and is Node. */
function serverPid(): number {
  const found = fs.readdirSync('/proc').find((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        fs
          .readFileSync(`/proc/${pid}/cmdline`, 'utf8')
          .startsWith(`${process.execPath}\0${BIN}\0serve\0--config\0${config}`)
      );
    } catch {
      return false;
    }
  });
  return Number(found ?? 0);
}

describe.skipIf(noTerminal)(`SIGHUP${noTerminal === undefined ? '' : ` (skipped: ${noTerminal})`}`, () => {
  test('ends a server on a terminal that was closed', async () => {
    await using terminal = new Terminal(serve());
    await logged('listening');
    await terminal.hangUp();
    await logged('stopped');
    expect(lines().find(({ msg }) => msg === 'stopping')?.signal).toBe('SIGHUP');
    await vi.waitFor(() => expect(serverPid()).toBe(0), WAIT);
  });

  test('reloads a server on a terminal that is open, which shows what is wrong with the config', async () => {
    await using terminal = new Terminal(serve());
    await logged('listening');
    process.kill(serverPid(), 'SIGHUP');
    await logged('config reloaded');
    fs.writeFileSync(config, 'rots: []');
    process.kill(serverPid(), 'SIGHUP');
    await logged('config not reloaded');
    await vi.waitFor(() => expect(terminal.screen).toContain(`ringfence: config not reloaded: ${config}: `), WAIT);
    await terminal.hangUp();
    await logged('stopped');
  });

  test('reloads a server under nohup, also when the terminal is closed', async () => {
    const pid = await (async () => {
      await using terminal = new Terminal(`nohup ${serve()} > /dev/null 2>&1 & sleep 60`);
      await logged('listening');
      await terminal.hangUp();
      return serverPid();
    })();
    process.kill(pid, 'SIGHUP');
    await logged('config reloaded');
    process.kill(pid, 'SIGTERM');
    await logged('stopped');
    expect(lines().find(({ msg }) => msg === 'stopping')?.signal).toBe('SIGTERM');
  });
});

test('SIGHUP ends a server without a config file, which has nothing to reload', async () => {
  const child = spawnRingfence(['serve', root, '--port', '0']);
  child.stdout.resume();
  const output = new ProcessLog(child);
  await output.waitFor(({ msg }) => msg === 'listening');
  child.kill('SIGHUP');
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(output.lines().find(({ msg }) => msg === 'stopping')?.signal).toBe('SIGHUP');
});
