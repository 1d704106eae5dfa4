import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { tempDir } from './temp-dir.ts';

/** The programs that tests use as balancers. */
export const BALANCERS = ['haproxy', 'nginx'] as const;
export type BalancerProgram = (typeof BALANCERS)[number];

/** Why tests with a balancer cannot run here; undefined if they can. */
export function noBalancer(program: BalancerProgram): string | undefined {
  return spawnSync(program, ['-v']).error === undefined ? undefined : `${program} is not installed`;
}

interface BalancerOptions {
  readonly program: BalancerProgram;
  /** The port of loopback that its config names. */
  readonly port: number;
  readonly config: string;
}

/** The signals that have a balancer read its config again: new processes take over, and the old ones end their requests. */
const RELOAD = { haproxy: 'SIGUSR2', nginx: 'SIGHUP' } as const;

/** A balancer in a process of its own. */
export class Balancer implements AsyncDisposable {
  readonly url: string;
  readonly #program: BalancerProgram;
  readonly #folder: string;
  readonly #file: string;
  readonly #child: ChildProcess;

  private constructor({ program, port, config }: BalancerOptions) {
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.#program = program;
    this.#folder = tempDir(`ringfence-${program}-`);
    // The workers of nginx run as another user.
    fs.chmodSync(this.#folder, 0o755);
    this.#file = path.join(this.#folder, 'config');
    fs.writeFileSync(this.#file, config);
    const args = {
      haproxy: ['-W', '-f', this.#file],
      nginx: [
        ...['-p', this.#folder, '-c', this.#file],
        ...['-g', `daemon off; pid ${this.#folder}/pid; error_log stderr warn;`],
      ],
    };
    this.#child = spawn(program, args[program], { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  /** Starts a balancer. Resolves once one of its servers gets requests through it. */
  static async start(options: BalancerOptions): Promise<Balancer> {
    const balancer = new Balancer(options);
    const child = balancer.#child;
    let log = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    const ready = new URL('/ready', balancer.url);
    for (let left = 100; ; left -= 1) {
      const answer = await fetch(ready).catch(() => undefined);
      if (answer?.ok) return balancer;
      if (left === 0 || child.exitCode !== null) break;
      await later(100);
    }
    await balancer[Symbol.asyncDispose]();
    throw new Error(`${options.program} did not start: ${log}`);
  }

  /** Has it read its config again, as an operator does, after `edit` has changed it. */
  reload(edit: (config: string) => string = (config) => config): void {
    fs.writeFileSync(this.#file, edit(fs.readFileSync(this.#file, 'utf8')));
    this.#child.kill(RELOAD[this.#program]);
  }

  /** Ends it and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.kill('SIGTERM')) await ended;
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}
