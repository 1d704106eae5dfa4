import { GlusterVolume } from './gluster-volume.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { startServer, type TestServer } from './start-server.ts';

const SECRET = { RINGFENCE_TEST_SECRET: '0123456789abcdef0123456789abcdef' };

interface ReplicaOptions {
  /** How many servers, on the mounts in turn. */
  readonly servers?: number;
  /** Their ports; by default the system chooses. */
  readonly ports?: readonly number[];
  /** More keys of the config file. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Servers that share the files of a GlusterFS volume, each as if on a machine of its own, and a Redis. */
export interface Replicas extends AsyncDisposable {
  readonly volume: GlusterVolume;
  readonly redis: RedisServer;
  readonly servers: TestServer[];
  /** Starts one more server on a mount, at a port if it matters. */
  start(mount?: number, port?: number): Promise<TestServer>;
}

/** Starts replicas that serve the root `shared`, the top of the volume. */
export async function startReplicas(options: ReplicaOptions = {}): Promise<Replicas> {
  const { servers = 2, ports = [], config = {}, env = {} } = options;
  const [volume, redis] = await Promise.all([GlusterVolume.start(2), startRedis()]);
  const started: TestServer[] = [];
  const start = async (mount = 0, port = 0): Promise<TestServer> => {
    const server = await startServer({
      roots: [{ name: 'shared', path: volume.mounts[mount % volume.mounts.length] as string }],
      config: { cluster: { secret_env: 'RINGFENCE_TEST_SECRET', redis: redis.url }, port, ...config },
      env: { ...SECRET, ...env },
    });
    started.push(server);
    return server;
  };
  const close = async (): Promise<void> => {
    for (const { pid } of started) resume(pid);
    await Promise.all(started.map((server) => server[Symbol.asyncDispose]()));
    await redis[Symbol.asyncDispose]();
    await volume[Symbol.asyncDispose]();
  };
  try {
    for (let index = 0; index < servers; index += 1) await start(index, ports[index]);
  } catch (error) {
    await close();
    throw error;
  }
  return { volume, redis, servers: started, start, [Symbol.asyncDispose]: close };
}

/** Lets a process go on that a test has stopped, so that it can end. */
function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
