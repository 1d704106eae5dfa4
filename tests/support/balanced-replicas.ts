import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RedisServer, startRedis } from './redis.ts';
import { startServer, type TestServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';

/** The secret that all replicas of a test share. */
export const SECRET = 'the-secret-of-all-replicas-0123456789';

/** Options of `startReplicas`. */
export interface ReplicaOptions {
  /** How many there are; 2 by default. */
  readonly count?: number;
  /** More keys of the config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More roots than `workspace`. */
  readonly roots?: Parameters<typeof startServer>[0]['roots'];
  /** What a person has to agree to in `workspace`. */
  readonly confirm?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly token?: string;
  /** A Redis that runs already; a new one by default. */
  readonly redis?: RedisServer;
}

/** Replicas of one server on one folder, with one Redis, behind a balancer that sends every request to the next of them. */
export class Replicas implements AsyncDisposable {
  readonly folder: string;
  readonly redis: RedisServer;
  readonly servers: readonly TestServer[];
  /** The address of the balancer. */
  readonly url: string;
  readonly #balancer: Balancer;

  constructor(parts: { folder: string; redis: RedisServer; servers: readonly TestServer[]; balancer: Balancer }) {
    this.folder = parts.folder;
    this.redis = parts.redis;
    this.servers = parts.servers;
    this.#balancer = parts.balancer;
    this.url = parts.balancer.url;
  }

  /** The base addresses of the replicas. */
  get urls(): string[] {
    return this.servers.map(({ url }) => new URL(url).origin);
  }

  /** Sends requests to these addresses from now on. */
  balanceOver(urls: readonly string[]): void {
    this.#balancer.targets = urls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#balancer.close();
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
    await this.redis[Symbol.asyncDispose]();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Starts replicas. */
export async function startReplicas(options: ReplicaOptions = {}): Promise<Replicas> {
  const { count = 2, redis = await startRedis() } = options;
  const folder = tempDir('ringfence-replicas-');
  const servers = await Promise.all(Array.from({ length: count }, () => startReplica(folder, redis, options)));
  const balancer = await Balancer.start(servers.map(({ url }) => new URL(url).origin));
  return new Replicas({ folder, redis, servers, balancer });
}

/** Starts one replica on a folder. */
export function startReplica(
  folder: string,
  { url }: Pick<RedisServer, 'url'>,
  { config, roots = [], confirm = [], env, token }: ReplicaOptions = {},
): Promise<TestServer> {
  return startServer({
    roots: [{ name: 'workspace', path: folder, confirm }, ...roots],
    config: { cluster: { secret_env: 'CLUSTER_SECRET', redis: url }, ...config },
    env: { CLUSTER_SECRET: SECRET, ...env },
    ...(token !== undefined && { token }),
  });
}

/** A reverse proxy that sends each request to the next target. */
class Balancer {
  targets: readonly string[];
  readonly #server: http.Server;
  readonly #agent = new http.Agent({ keepAlive: true });
  #next = 0;

  private constructor(targets: readonly string[]) {
    this.targets = targets;
    this.#server = http.createServer((request, response) => {
      const target = this.targets[this.#next % this.targets.length] ?? '';
      this.#next += 1;
      const { method, headers, url = '/' } = request;
      const forwarded = http.request(new URL(url, target), { method, headers, agent: this.#agent }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      forwarded.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
      response.on('close', () => forwarded.destroy());
      request.pipe(forwarded);
    });
  }

  static async start(targets: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(targets);
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve));
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }
}
