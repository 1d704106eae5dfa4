import { setTimeout as later } from 'node:timers/promises';
import type { Config, DialectConfig } from '../config/config.ts';
import { mountPath } from '../config/mount-path.ts';
import { atMost } from '../runtime/at-most.ts';
import { warmUpInBackground } from '../server/background/warm-up.ts';
import { KEEP_ALIVE_MS, type Mount, type RunningHttpServer, startHttp } from '../server/http/http-server.ts';
import type { Announcement } from './banner.ts';
import type { OneOfSeveral } from './operator-views.ts';
import { GRACE_MS, type RunningServer, STOP_MS, type StartOptions, start } from './start.ts';

/** Longer than a balancer that asks every second, and believes the second answer, takes to notice. */
const NOTICE_MS = 2_500;

/**
 * How long a process that was replaced waits for its clients: until the server has closed a connection that is idle.
 */
const IDLE_MS = KEEP_ALIVE_MS + 5_000;

/** Options of `startServing`. */
export interface ServingOptions extends StartOptions {
  /** Whether another process hands over the connections, instead of this one listening. */
  readonly handedOver?: boolean;
  /** Returns the metrics of all processes on this port, where there are several. */
  gatherMetrics?(): Promise<readonly string[]>;
  /** Words the errors of the attempt to listen; by default they stay as they are. */
  listen?(attempt: () => Promise<RunningHttpServer>): Promise<RunningHttpServer>;
}

/** A process that answers calls over HTTP. */
export interface Serving extends Announcement {
  readonly started: RunningServer;
  readonly http: RunningHttpServer;
  /** Returns the metrics of this process; an empty text if the config does not ask for any. */
  metrics(): Promise<string>;
  /** Finishes running calls within the grace time, closes everything and logs why, in all within `STOP_MS`. */
  stop(why: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Starts what answers calls over HTTP. Raises `ConfigError`, and what `listen` raises. */
export async function startServing(config: Config, options: ServingOptions): Promise<Serving> {
  const { handedOver = false, listen = (attempt) => attempt() } = options;
  const views = config.console
    ? (await import('./operator-views.ts')).operatorViews(config, oneOf(options))
    : undefined;
  const { observers, approvals, replace } = views ?? {};
  const started = await start(config, { ...options, observers, approvals, onReload: replace });
  const { logger } = started.log;
  const mounts = await mountsOf(config, started);
  const viewed = { config, started, mounts, http: () => http };
  const routes = views?.routesOf(viewed);
  const http: RunningHttpServer = await listen(() => startHttp(mounts, { ...config, routes, handedOver }));
  const { running } = started.shared;
  const warmUps = mounts.map(({ service }) => warmUpInBackground({ load: async () => service, running }));
  return {
    started,
    http,
    metrics: async () => (await views?.metricsOf(viewed)) ?? '',
    version: started.version,
    hardening: started.hardening,
    facts: started.facts,
    base: http.base,
    port: http.port,
    stop: async (why) => {
      for (const warmUp of warmUps) warmUp.stop();
      const noticeMs = drainNoticeMs(config);
      // The parent of a worker has given notice before.
      const deadline = performance.now() + STOP_MS - (handedOver ? noticeMs : 0);
      if (noticeMs > 0 && !handedOver) {
        void http.retire();
        logger.info(why, 'draining');
        await later(noticeMs);
      }
      const closed = http.close(GRACE_MS - noticeMs);
      logger.info(why, 'stopping');
      const finish = async (): Promise<void> => {
        await closed;
        views?.close();
        await started.report.stop();
      };
      await atMost(deadline - performance.now(), finish());
      logger.info('stopped');
      await atMost(deadline - performance.now(), started.close(), () => started.log.flush());
    },
  };
}

function oneOf({ worker, gatherMetrics }: ServingOptions): OneOfSeveral | undefined {
  return worker === undefined || gatherMetrics === undefined ? undefined : { worker, gatherMetrics };
}

/**
 * Returns for how long a server that was told to stop goes on while `/ready` answers 503. A replica does: connections
 * that a balancer opens before it knows would be reset.
 */
export function drainNoticeMs({ cluster }: Config): number {
  return cluster === undefined ? 0 : NOTICE_MS;
}

/**
 * Returns for how long a process that has been replaced keeps its connections: until none is idle any more, and a call
 * that began on one at the last moment has taken as long as a call may, the time in which a person or a client is asked
 * included. It ends sooner if it has none.
 */
export function retirementMs({ requestTimeout, confirmTimeout, roots, dialects }: CallTimes): number {
  const askings = [...roots.map(({ agent }) => agent), ...dialects.map(({ project }) => project)];
  const askTimeout = Math.max(0, ...askings.map((asking) => asking?.timeout ?? 0));
  return IDLE_MS + (requestTimeout + confirmTimeout + askTimeout) * 1000;
}

type CallTimes = Pick<Config, 'requestTimeout' | 'confirmTimeout' | 'roots' | 'dialects'>;

async function mountsOf({ dialects: [first, ...more] }: Config, started: RunningServer): Promise<[Mount, ...Mount[]]> {
  const mount = async (dialect: DialectConfig): Promise<Mount> => ({
    path: mountPath(dialect.name),
    service: await started.serviceFor(dialect),
  });
  return [await mount(first), ...(await Promise.all(more.map(mount)))];
}
