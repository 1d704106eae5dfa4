import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { tempDir } from './temp-dir.ts';

/** Why tests with a real Redis cannot run here; undefined if they can. */
export const noRedis: string | undefined =
  spawnSync('redis-server', ['--version']).error === undefined ? undefined : 'redis-server is not installed';

/** Why tests with TLS cannot run here; undefined if they can. */
export const noTls: string | undefined =
  noRedis ?? (spawnSync('openssl', ['version']).error === undefined ? undefined : 'openssl is not installed');

/** Options of `startRedis`. */
interface RedisServerOptions {
  readonly password?: string;
  /** Accept TLS only, with the certificate of `RedisServer.certificate`. */
  readonly tls?: boolean;
  /** More of the command line, such as `--maxmemory 2mb`. */
  readonly args?: readonly string[];
}

/** A Redis of a test, on a port of loopback that stays the same when it is started again. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  /** The file with the certificate that clients have to trust, if it speaks TLS. */
  readonly certificate: string;
  readonly #folder = tempDir('ringfence-redis-');
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  constructor(port: number, { password, tls = false, args = [] }: RedisServerOptions) {
    this.port = port;
    this.url = `${tls ? 'rediss' : 'redis'}://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
    this.certificate = path.join(this.#folder, 'cert.pem');
    this.#args = [
      ...(tls ? ['--port', '0', '--tls-port', `${port}`, ...this.#tlsFiles()] : ['--port', `${port}`]),
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...args,
    ];
  }

  /** Starts it, empty. Resolves when it accepts connections. */
  async start(): Promise<void> {
    const options = ['--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    this.#child = spawn('redis-server', [...options, ...this.#args], { stdio: 'ignore' });
    const child = this.#child;
    while (!(await accepts(this.port))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      await later(10);
    }
  }

  /** Ends it at once, with all that it holds. */
  async kill(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** Stops it, so that it neither answers nor closes its connections. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Makes a certificate for 127.0.0.1 that signs itself. */
  #tlsFiles(): string[] {
    const key = path.join(this.#folder, 'key.pem');
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const names = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', this.certificate];
    execFileSync('openssl', ['req', ...kind, ...names, ...files], { stdio: 'pipe' });
    return ['--tls-cert-file', this.certificate, '--tls-key-file', key, '--tls-auth-clients', 'no'];
  }

  /** Ends it and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Starts a Redis on a free port. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), options);
  await server.start();
  return server;
}

async function accepts(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
