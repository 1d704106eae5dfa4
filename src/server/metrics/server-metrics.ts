import { Counter, Gauge, type Registry } from 'prom-client';
import type { PartitionStats } from '../../agent/bridge/agent-partitions.ts';
import type { SharedService } from '../call/service.ts';
import type { HttpFigures } from '../http/http-server.ts';

/** What the figures of a server are taken from. */
export interface MetricsSource {
  readonly shared: SharedService;
  /** What HTTP clients take of the server. */
  readonly http: HttpFigures;
  /** The files that clients handed over, by the name of the root; that of a project is empty. */
  readonly agentFiles: readonly (readonly [root: string, stats: PartitionStats])[];
  /** The version of this program. */
  readonly version: string;
  /** The backend of the fence. */
  readonly fence: string;
}

type Labels = Readonly<Record<string, string>>;
type Values = (source: MetricsSource) => Iterable<readonly [labels: Labels, value: number]>;

/** A figure of the server. A counter only grows. */
interface Figure {
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly values: Values;
}

const one =
  (value: (source: MetricsSource) => number): Values =>
  (source) => [[{}, value(source)]];
const cached =
  (value: (stats: PartitionStats) => number): Values =>
  ({ agentFiles }) =>
    agentFiles.map(([root, stats]) => [{ root }, value(stats)]);

/** What is reported, by the name of the metric without `ringfence_`. */
const FIGURES: Readonly<Record<string, Figure>> = {
  build_info: {
    type: 'gauge',
    help: 'Always 1. The labels name the version of the program and the backend of the fence.',
    labelNames: ['version', 'fence'],
    values: ({ version, fence }) => [[{ version, fence }, 1]],
  },
  calls_running: {
    type: 'gauge',
    help: 'Calls that are running.',
    values: one(({ shared }) => shared.running.size),
  },
  violations_total: {
    type: 'counter',
    help: 'Attempts that the fence, a rule of a root or an allowlist denied.',
    values: one(({ shared }) => shared.activity?.violations ?? 0),
  },
  rate_limit_refusals_total: {
    type: 'counter',
    help: 'Calls and other requests that were refused because their client sent too many.',
    values: one(({ shared }) => shared.rates?.refusals ?? 0),
  },
  search_threads: {
    type: 'gauge',
    help: 'Worker threads of grep and glob that are running.',
    values: one(({ shared }) => shared.search.usage.threads),
  },
  search_threads_max: {
    type: 'gauge',
    help: 'The most worker threads that grep and glob start.',
    values: one(({ shared }) => shared.search.size),
  },
  searches: {
    type: 'gauge',
    help: 'Searches that are running or waiting.',
    labelNames: ['state'],
    values: ({ shared: { search } }) => {
      const { searches, waiting } = search.usage;
      return [
        [{ state: 'running' }, searches - waiting],
        [{ state: 'waiting' }, waiting],
      ];
    },
  },
  line_index_bytes: {
    type: 'gauge',
    help: 'Memory of the cache that knows where the lines of large files are.',
    values: one(({ shared }) => shared.lineIndex?.usage.bytes ?? 0),
  },
  agent_cache_clients: {
    type: 'gauge',
    help: 'Clients whose files are cached, by agent root; the root of a project is empty.',
    labelNames: ['root'],
    values: cached(({ partitions }) => partitions),
  },
  agent_cache_bytes: {
    type: 'gauge',
    help: 'Bytes of cached files of clients.',
    labelNames: ['root'],
    values: cached(({ bytes }) => bytes),
  },
  agent_cache_max_bytes: {
    type: 'gauge',
    help: 'Bytes that may be cached of the files of all clients.',
    labelNames: ['root'],
    values: cached(({ maxTotalBytes }) => maxTotalBytes),
  },
  agent_cache_entries: {
    type: 'gauge',
    help: 'Cached files and listings of clients.',
    labelNames: ['root'],
    values: cached(({ entries }) => entries),
  },
  agent_cache_hits_total: {
    type: 'counter',
    help: 'Files of clients that were found in the cache.',
    labelNames: ['root'],
    values: cached(({ hits }) => hits),
  },
  agent_cache_misses_total: {
    type: 'counter',
    help: 'Files of clients that were not in the cache, so that the client had to be asked.',
    labelNames: ['root'],
    values: cached(({ misses }) => misses),
  },
  agent_cache_evictions_total: {
    type: 'counter',
    help: 'Cached files and listings that made room for others.',
    labelNames: ['root'],
    values: cached(({ evictedEntries }) => evictedEntries),
  },
  http_connections: {
    type: 'gauge',
    help: 'Open HTTP connections.',
    values: one(({ http }) => http.connections),
  },
  http_requests_running: {
    type: 'gauge',
    help: 'HTTP requests that are being answered, open event streams included.',
    values: one(({ http }) => http.requests),
  },
  http_held_bytes: {
    type: 'gauge',
    help: 'Memory that bodies of requests and unread answers take.',
    values: one(({ http }) => http.heldBytes),
  },
  http_refused_total: {
    type: 'counter',
    help: 'HTTP requests that were refused because of a foreign origin, or a missing or wrong token.',
    labelNames: ['reason'],
    values: ({ http: { refused } }) => Object.entries(refused).map(([reason, count]) => [{ reason }, count]),
  },
  sessions: {
    type: 'gauge',
    help: 'Open sessions of clients that speak a revision of MCP before 2026-07-28, over HTTP.',
    labelNames: ['dialect'],
    values: ({ http }) => [...http.sessions].map(([dialect, count]) => [{ dialect }, count]),
  },
};

/** Reports figures that the server keeps anyway. They are read at each scrape. */
export class ServerMetrics {
  readonly #metrics: readonly (readonly [Counter | Gauge, Figure])[];

  constructor(registry: Registry) {
    this.#metrics = Object.entries(FIGURES).map(([name, figure]) => {
      const { type, help, labelNames = [] } = figure;
      const Metric = type === 'counter' ? Counter : Gauge;
      return [new Metric({ name: `ringfence_${name}`, help, labelNames, registers: [registry] }), figure];
    });
  }

  /** Sets the metrics to the figures of this moment. */
  collect(source: MetricsSource): void {
    for (const [metric, { values }] of this.#metrics) {
      metric.reset();
      for (const [labels, value] of values(source)) metric.inc(labels, value);
    }
  }
}
