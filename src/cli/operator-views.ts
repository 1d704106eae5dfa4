import type { CallObserver } from '../audit/record-call.ts';
import type { Config } from '../config/config.ts';
import { partitionStats } from '../server/clients/agent-files.ts';
import type { Approvals } from '../server/confirm/approve.ts';
import { OperatorConsole } from '../server/console/operator-console.ts';
import type { Mount, RunningHttpServer } from '../server/http/http-server.ts';
import type { Route } from '../server/http/route.ts';
import { Metrics } from '../server/metrics/metrics.ts';
import { metricsRoute, ownMetrics } from '../server/metrics/metrics-route.ts';
import type { RunningServer } from './start.ts';

/** A server that operators look at. */
export interface ViewedServer {
  readonly config: Config;
  readonly started: RunningServer;
  readonly mounts: readonly [Mount, ...Mount[]];
  /** Returns the running server. Called once it answers requests. */
  http(): RunningHttpServer;
}

/** What the config key `console` turns on. It is made before the server, because it has to be told of every call. */
export interface OperatorViews {
  readonly observers: readonly CallObserver[];
  /** Asks operators about calls. */
  readonly approvals: Approvals | undefined;
  routesOf(server: ViewedServer): readonly Route[];
  /** Replaces the config. */
  replace(config: Config): void;
  /** Returns the metrics of this process. */
  metricsOf(server: ViewedServer): Promise<string>;
  /** Ends what goes on in the background. Call it once no call is running, and before the store is closed. */
  close(): void;
}

/** What a process is to the others on its port. */
export interface OneOfSeveral {
  readonly worker: number;
  /** Returns the metrics of all of them. */
  gatherMetrics(): Promise<readonly string[]>;
}

/**
 * Makes what operators see of a server: its metrics and the console. One of several processes has no console, which
 * would show only its own calls.
 */
export function operatorViews(config: Config, oneOf?: OneOfSeveral): OperatorViews {
  const metrics = new Metrics(oneOf?.worker);
  const console = oneOf === undefined ? new OperatorConsole(config) : undefined;
  const metricsOptions = ({ config: { host }, started: { version, fence }, mounts, http }: ViewedServer) => {
    return { metrics, mounts, host, version, fence, http: () => http().figures(), gather: oneOf?.gatherMetrics };
  };
  return {
    observers: console === undefined ? [metrics.observe] : [metrics.observe, console.observer],
    approvals: console?.approvals,
    replace: (next) => console?.replace(next),
    close: () => console?.close(),
    metricsOf: (server) => ownMetrics(metricsOptions(server)),
    routesOf: (server) => {
      const { started, mounts, http } = server;
      const { shared, version } = started;
      const caches = () => partitionStats(mounts);
      const page = console?.route({ shared, version, caches, peers: () => http().peers() });
      return [metricsRoute(metricsOptions(server)), ...(page === undefined ? [] : [page])];
    },
  };
}
