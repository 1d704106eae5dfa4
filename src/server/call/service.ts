import type { Logger } from 'pino';
import { Activity } from '../../audit/activity.ts';
import type { CallObserver } from '../../audit/record-call.ts';
import type { SharedStore } from '../../cluster/shared-store.ts';
import type { Config } from '../../config/config.ts';
import { type Backend, chooseBackend, OwnerNames } from '../../fence/index.ts';
import { Leases } from '../../files/lease/leases.ts';
import { StatThread } from '../../files/list/stat-thread.ts';
import { LineIndexCache } from '../../files/read/line-index-cache.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/pool/search-pool.ts';
import type { Dialect } from '../../tools/dialect.ts';
import type { Roots } from '../../tools/roots.ts';
import type { Limits } from '../../tools/tool.ts';
import type { AgentFiles } from '../clients/agent-files.ts';
import { OpenConnections } from '../clients/open-connections.ts';
import { Principals } from '../clients/principals.ts';
import type { Approvals } from '../confirm/approve.ts';
import type { ServerDescription } from '../description/server-description.ts';
import { RateLimiter } from '../limits/token-bucket.ts';
import { SigningKeys, type SigningSecrets } from '../sessions/signing-keys.ts';
import { ResultForms } from './result-forms.ts';
import { RetiredRoots } from './roots/retired-roots.ts';
import { type OpenHistory, type PreparedRoots, type RetiredRoot, ServedRoots } from './roots/served-roots.ts';
import { RunningCalls } from './running/running-calls.ts';

/** What the config says about every call. The same object for all, so that a new config holds for the next call. */
interface CallSettings {
  readonly limits: Limits;
  /** Whether writes wait for the disk. */
  readonly durable: boolean;
  /** The time limit of a call, in seconds. */
  readonly requestTimeout: number;
  /** How long a person has to agree to a call, in seconds. */
  readonly confirmTimeout: number;
}

/** A config that is ready to be served. */
type PreparedConfig = Omit<PreparedRoots, 'commit'> & {
  /**
   * Serves it from the next call on, and returns the roots that are not served any more. Running calls end with what they
   * began with: those roots, and the connections of clients whose tokens are gone, are closed after them.
   */
  commit(): readonly RetiredRoot[];
};

/** What the calls of all dialects and transports share. */
export interface SharedService {
  /** All roots of the config. @internal */
  readonly roots: Roots;
  /** The clients that may call over HTTP; undefined if anyone may. @internal */
  readonly principals?: Principals | undefined;
  /** Limits how often each client may call; undefined if nothing does. @internal */
  readonly rates?: RateLimiter | undefined;
  /** Runs grep and glob on worker threads. @internal */
  readonly search: SearchPool;
  /** Helps to list large folders. @internal */
  readonly statThread?: StatThread | undefined;
  /** Remembers where lines are in large files. @internal */
  readonly lineIndex?: LineIndexCache | undefined;
  /** @internal */
  readonly settings: CallSettings;
  /** How results are written for which client; by default the same for all. @internal */
  readonly resultForms?: ResultForms | undefined;
  /**
   * The names of users and groups, read at the start: once Landlock confines the process, it cannot read them.
   * @internal
   */
  readonly ownerNames?: OwnerNames | undefined;
  readonly logger: Logger;
  /** Counts what each client has done. */
  readonly activity?: Activity | undefined;
  /** Are told of every finished call. */
  readonly observers?: readonly CallObserver[] | undefined;
  /** Asks operators about calls whose clients can ask nobody; undefined if there is no way to reach one. @internal */
  readonly approvals?: Approvals | undefined;
  /** @internal */
  readonly running: RunningCalls;
  /** Those of clients before 2026-07-28. @internal */
  readonly connections?: OpenConnections | undefined;
  /** Shares the main thread among the calls. @internal */
  readonly scheduler: FairScheduler;
  /** What the replicas of this server have in common; undefined if it has none. @internal */
  readonly store?: SharedStore | undefined;
  /** Sign what clients carry from one request to the next; by default with a secret that no other process has. @internal */
  readonly signingKeys?: SigningKeys | undefined;
  /** Stops the worker threads and closes the roots. No call may be running. */
  close(): Promise<void>;
}

/** A service whose config can be replaced. */
export interface ReloadableService extends SharedService {
  /**
   * Prepares to serve another config, without changing anything yet. Whether there are principals and a limit of rates
   * at all is decided at the start. Raises `ConfigError` for a root or a history that cannot be opened. @internal
   */
  prepare(config: Config, openHistory?: OpenHistory): PreparedConfig;
}

/** What the calls of one dialect need. */
export interface Service extends SharedService {
  readonly dialect: Dialect;
  /** The answers to `initialize`, `server/discover` and `tools/list`. */
  readonly description: ServerDescription;
  /** The root that the tools of a dialect work on if they name none. */
  readonly boundRoot?: string | undefined;
  /** The files that clients have handed over; undefined if client-side files are not configured. @internal */
  readonly agentFiles?: AgentFiles | undefined;
}

/** Options of `openSharedService`. */
export interface SharedServiceOptions {
  readonly config: Config;
  /** The backend of the fence; by default the strongest that this machine supports. */
  readonly backend?: Backend;
  readonly logger: Logger;
  /** Are told of every finished call; by default nobody is. */
  readonly observers?: readonly CallObserver[] | undefined;
  /** Asks operators about calls whose clients can ask nobody; by default there are none. @internal */
  readonly approvals?: Approvals | undefined;
  /**
   * Opens the history of a root; needed if the config has any. It is not imported here, because a start without
   * histories should not wait for them to be loaded.
   */
  readonly openHistory?: OpenHistory | undefined;
  /** What the replicas of this server have in common; by default it has none. It is closed with the service. @internal */
  readonly store?: SharedStore | undefined;
  /** Sign what clients carry, where the config has no secrets for that; by default one that this process makes. @internal */
  readonly secrets?: SigningSecrets | undefined;
}

/** The dialect of a service. */
export interface DialectOptions extends Pick<Service, 'dialect' | 'description'> {
  readonly boundRoot?: string | undefined;
}

/**
 * Returns a service in one dialect. Services in several dialects may share their roots, worker threads and running
 * calls.
 */
export function forDialect(shared: SharedService, { dialect, description, boundRoot }: DialectOptions): Service {
  return { ...shared, dialect, description, boundRoot };
}

/**
 * Opens the roots of a config with their histories, and makes what all calls share. Raises `ConfigError` for a root or
 * a history that cannot be opened.
 */
export function openSharedService(options: SharedServiceOptions): ReloadableService {
  const { config, logger, backend = chooseBackend(), observers = [], store } = options;
  // Processes of one machine need none: they lock the folders.
  const leases = config.cluster && store && new Leases(store);
  const served = new ServedRoots({ backend, leases });
  const { roots } = served;
  served.prepare(config, options.openHistory).commit();
  const settings = settingsOf(config);
  const resultForms = new ResultForms(config);
  const principals = config.auth && new Principals(config.auth, roots);
  // The config file may set a limit later.
  const rates = config.file || config.rateLimit ? new RateLimiter(config.rateLimit, store) : undefined;
  const search = new SearchPool();
  const statThread = new StatThread();
  const running = new RunningCalls();
  const retired = new RetiredRoots(running);
  const connections = new OpenConnections();
  return {
    roots,
    principals,
    rates,
    search,
    statThread,
    lineIndex: new LineIndexCache(),
    settings,
    resultForms,
    ownerNames: new OwnerNames(),
    logger,
    activity: new Activity({ unusual: (what) => logger.warn(what, 'unusual activity') }),
    observers,
    approvals: options.approvals,
    running,
    connections,
    scheduler: new FairScheduler(),
    store,
    signingKeys: new SigningKeys(config.cluster?.secrets ?? options.secrets),
    prepare: (next, openHistory) => {
      const prepared = served.prepare(next, openHistory);
      const commit = (): readonly RetiredRoot[] => {
        const before = prepared.commit();
        Object.assign(settings, settingsOf(next));
        resultForms.replace(next);
        rates?.replace(next.rateLimit);
        const gone = next.auth && principals?.replace(next.auth, roots);
        for (const { client } of gone ?? []) void running.presentEnded().then(() => connections.closeOf(client));
        for (const root of before) retired.add(root);
        return before;
      };
      return { ...prepared, commit };
    },
    close: async () => {
      await Promise.all([search.close(), statThread.close(), store?.close()]);
      retired.close();
      served.close();
    },
  };
}

function settingsOf({ maxFullReadSize, durableWrites, requestTimeout, confirmTimeout }: Config): CallSettings {
  return { limits: { maxFullReadSize }, durable: durableWrites, requestTimeout, confirmTimeout };
}
