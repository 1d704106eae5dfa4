import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempDir } from './temp-dir.ts';

const PROGRAMS = ['glusterd', 'gluster', 'mount.glusterfs', 'unshare', 'nsenter', 'ip'];
/** Gluster refuses 127.0.0.1 for a brick. */
const HOST = '127.0.0.2';
const VOLUME = 'shared';
const START_MS = 20_000;

/** Why no GlusterFS volume can be made here, or undefined if one can. */
export const cannotRunGluster: string | undefined = (() => {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = PROGRAMS.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing !== undefined) return `${missing} is not installed`;
  if (!fs.existsSync('/dev/fuse')) return 'the kernel has no FUSE';
  return spawnSync('unshare', ['--net', 'true']).status === 0 ? undefined : 'no network namespaces';
})();

/**
 * A replicated GlusterFS volume of two bricks, mounted several times as if by several machines, with the options that
 * Gluster has by default. Its processes are in a network namespace of their own, so that several volumes do not meet.
 * Dispose of it with `await using`.
 */
export class GlusterVolume implements AsyncDisposable {
  /** The folders at which it is mounted. */
  readonly mounts: readonly string[];
  readonly #base: string;
  readonly #daemon: ChildProcess;

  private constructor(base: string, daemon: ChildProcess, mounts: readonly string[]) {
    this.#base = base;
    this.#daemon = daemon;
    this.mounts = mounts;
  }

  static async start(mounts = 2): Promise<GlusterVolume> {
    const base = tempDir('ringfence-gluster-');
    for (const folder of ['state', 'run', 'brick-0', 'brick-1']) fs.mkdirSync(path.join(base, folder));
    fs.writeFileSync(path.join(base, 'glusterd.vol'), configOf(base));
    const run = `ip link set lo up && exec glusterd --no-daemon --volfile=${base}/glusterd.vol --log-file=${base}/glusterd.log --pid-file=${base}/glusterd.pid`;
    const daemon = spawn('unshare', ['--net', 'sh', '-c', run], { stdio: 'ignore' });
    const folders = Array.from({ length: mounts }, (_, index) => path.join(base, `mount-${index}`));
    const volume = new GlusterVolume(base, daemon, folders);
    try {
      await volume.#create();
    } catch (error) {
      await volume[Symbol.asyncDispose]();
      throw error;
    }
    return volume;
  }

  /** Kills the process of a brick with SIGKILL. */
  killBrick(index: 0 | 1): void {
    process.kill(this.#pidsIn(`run/vols/${VOLUME}`, `brick-${index}`)[0] as number, 'SIGKILL');
  }

  /** Starts the bricks again that were killed. */
  startBricks(): void {
    this.#gluster('volume', 'start', VOLUME, 'force');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const mount of this.mounts) spawnSync('umount', [mount]);
    for (const mount of this.mounts) if (isMounted(mount)) spawnSync('umount', ['--lazy', mount]);
    const ended = once(this.#daemon, 'exit');
    if (this.#daemon.exitCode === null && this.#daemon.kill('SIGKILL')) await ended;
    for (const pid of [...this.#pidsIn(`run/vols/${VOLUME}`), ...this.#pidsIn(`run/shd/${VOLUME}`)]) killIfRunning(pid);
    fs.rmSync(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }

  async #create(): Promise<void> {
    const bricks = [0, 1].map((index) => `${HOST}:${this.#base}/brick-${index}/data`);
    const deadline = Date.now() + START_MS;
    for (;;) {
      const status = spawnSync(...this.#inside('gluster', ...this.#cli(), 'volume', 'info'));
      if (status.status === 0) break;
      if (Date.now() > deadline) throw new Error(`glusterd did not start: ${status.stderr}`);
      await sleep(100);
    }
    this.#gluster('volume', 'create', VOLUME, 'replica', '2', ...bricks, 'force');
    this.#gluster('volume', 'start', VOLUME);
    for (const [index, mount] of this.mounts.entries()) {
      fs.mkdirSync(mount);
      const log = `log-file=${this.#base}/mount-${index}.log`;
      execFileSync(...this.#inside('mount', '-t', 'glusterfs', '-o', log, `${HOST}:/${VOLUME}`, mount));
      while (!isMounted(mount) && Date.now() < deadline) await sleep(50);
      fs.statSync(path.join(mount, '.'));
    }
  }

  #gluster(...command: string[]): void {
    execFileSync(...this.#inside('gluster', ...this.#cli(), ...command));
  }

  #cli(): string[] {
    return ['--mode=script', `--glusterd-sock=${this.#base}/run/glusterd.socket`, `--log-file=${this.#base}/cli.log`];
  }

  /** Runs a command in the network namespace of the volume. */
  #inside(...command: string[]): [string, string[], { stdio: 'pipe' }] {
    return ['nsenter', [`--net=/proc/${this.#daemon.pid}/ns/net`, ...command], { stdio: 'pipe' }];
  }

  #pidsIn(folder: string, part = ''): number[] {
    const found = path.join(this.#base, folder);
    if (!fs.existsSync(found)) return [];
    const names = fs.readdirSync(found).filter((name) => name.endsWith('.pid') && name.includes(part));
    return names.map((name) => Number(fs.readFileSync(path.join(found, name), 'latin1'))).filter((pid) => pid > 0);
  }
}

function configOf(base: string): string {
  return `volume management
  type mgmt/glusterd
  option working-directory ${base}/state
  option run-directory ${base}/run
  option glusterd-sockfile ${base}/run/glusterd.socket
  option transport-type socket
  option transport.socket.listen-port 24007
  option transport.socket.read-fail-log off
  option ping-timeout 0
  option event-threads 1
  option max-port 60999
end-volume
`;
}

function isMounted(folder: string): boolean {
  return fs.readFileSync('/proc/mounts', 'utf8').includes(` ${folder} `);
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
