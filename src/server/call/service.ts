import type { Logger } from 'pino';
import type { AgentPartitions } from '../../agent/bridge/agent-partitions.ts';
import { Activity } from '../../audit/activity.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { type Backend, chooseBackend, Root } from '../../fence/index.ts';
import { StatThread } from '../../files/list/stat-thread.ts';
import { LineIndexCache } from '../../files/read/line-index-cache.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/pool/search-pool.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { type NamedRoot, Roots } from '../../tools/roots.ts';
import type { Limits } from '../../tools/tool.ts';
import type { ServerDescription } from '../description/server-description.ts';
import { Principals } from './principals.ts';
import { RunningCalls } from './running-calls.ts';

/** What all calls share, in whatever dialect and by whatever transport they come. */
export interface SharedService {
  /** @internal */
  readonly roots: Roots;
  /** Who may call over HTTP; undefined if anyone may. @internal */
  readonly principals?: Principals | undefined;
  /** @internal */
  readonly search: SearchPool;
  /** @internal */
  readonly statThread?: StatThread | undefined;
  /** @internal */
  readonly lineIndex?: LineIndexCache | undefined;
  /** @internal */
  readonly limits: Limits;
  /** @internal */
  readonly durable: boolean;
  /** Seconds. @internal */
  readonly requestTimeout: number;
  readonly logger: Logger;
  /** What each client did so far. */
  readonly activity?: Activity | undefined;
  /** @internal */
  readonly running: RunningCalls;
  /** Shares the thread among the calls. @internal */
  readonly scheduler: FairScheduler;
  /** Ends worker threads and gives up the roots. Calls have to be over by then. */
  close(): Promise<void>;
}

/** Everything that the calls of one dialect need. */
export interface Service extends SharedService {
  readonly dialect: Dialect;
  /** What the server says about itself before any call. */
  readonly description: ServerDescription;
  /** The root of a dialect whose tools name none. */
  readonly boundRoot?: string | undefined;
  /** Files of the clients' side, each client's apart; undefined where none are asked for. */
  readonly agentFiles?: AgentPartitions | undefined;
  /** The root that these files appear as, which a client must know of to use them; undefined where they are no root. @internal */
  readonly agentRoot?: string | undefined;
}

export interface SharedServiceOptions {
  readonly config: Config;
  /** By default the strongest that this machine supports. */
  readonly backend?: Backend;
  readonly logger: Logger;
}

export interface DialectOptions extends Pick<Service, 'dialect' | 'description'> {
  readonly boundRoot?: string | undefined;
}

/** A service in one dialect. Those in others may share its roots, workers and running calls. */
export function forDialect(shared: SharedService, { dialect, description, boundRoot }: DialectOptions): Service {
  return { ...shared, dialect, description, boundRoot };
}

/** Opens the roots of a config. Raises `ConfigError` for one that cannot be opened. */
export function openSharedService({ config, backend = chooseBackend(), logger }: SharedServiceOptions): SharedService {
  const opened = openRoots(config, backend);
  const roots = new Roots(opened);
  const search = new SearchPool();
  const statThread = new StatThread();
  return {
    roots,
    principals: config.auth && new Principals(config.auth, roots),
    search,
    statThread,
    lineIndex: new LineIndexCache(),
    limits: { maxFullReadSize: config.maxFullReadSize },
    durable: config.durableWrites,
    requestTimeout: config.requestTimeout,
    logger,
    activity: new Activity({ unusual: (what) => logger.warn(what, 'unusual activity') }),
    running: new RunningCalls(),
    scheduler: new FairScheduler(),
    close: async () => {
      await Promise.all([search.close(), statThread.close()]);
      closeRoots(opened);
    },
  };
}

function openRoots(config: Config, backend: Backend): NamedRoot[] {
  const opened: NamedRoot[] = [];
  for (const { name, path, allowed, origin } of config.roots) {
    if (path === undefined) {
      opened.push({ kind: 'agent', root: { name }, allowed: new Set(allowed) });
      continue;
    }
    try {
      opened.push({ root: Root.open(name, path, backend), allowed: new Set(allowed) });
    } catch (error) {
      closeRoots(opened);
      const { code } = error as NodeJS.ErrnoException;
      const where = config.file === undefined ? origin : `${config.file}: ${origin}`;
      throw new ConfigError(`${where}: the folder ${path} cannot be opened: ${code ?? 'unknown error'}`);
    }
  }
  return opened;
}

function closeRoots(opened: readonly NamedRoot[]): void {
  for (const { kind, root } of opened) if (kind !== 'agent') root[Symbol.dispose]();
}
