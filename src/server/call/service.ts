import type { Logger } from 'pino';
import { Activity } from '../../audit/activity.ts';
import { allowedOn, type Config, type LocalRootConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { ownFilePatterns } from '../../config/own-files.ts';
import { type Backend, chooseBackend, DEFAULT_PROTECT, OwnerNames, Root } from '../../fence/index.ts';
import { StatThread } from '../../files/list/stat-thread.ts';
import { LineIndexCache } from '../../files/read/line-index-cache.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/pool/search-pool.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { type NamedRoot, Roots } from '../../tools/roots.ts';
import type { Limits } from '../../tools/tool.ts';
import type { ServerDescription } from '../description/server-description.ts';
import { RateLimiter } from '../limits/token-bucket.ts';
import type { AgentFiles } from './agent-files.ts';
import type { openHistory } from './open-history.ts';
import { Principals } from './principals.ts';
import { ResultForms } from './result-forms.ts';
import { RunningCalls } from './running-calls.ts';

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
  readonly limits: Limits;
  /** How results are written for which client; by default the same for all. @internal */
  readonly resultForms?: ResultForms | undefined;
  /** Whether writes wait for the disk. @internal */
  readonly durable: boolean;
  /**
   * The names of users and groups, read at the start: once Landlock confines the process, it cannot read them.
   * @internal
   */
  readonly ownerNames?: OwnerNames | undefined;
  /** The time limit of a call, in seconds. @internal */
  readonly requestTimeout: number;
  /** How long a person has to agree to a call, in seconds. @internal */
  readonly confirmTimeout: number;
  readonly logger: Logger;
  /** Counts what each client has done. */
  readonly activity?: Activity | undefined;
  /** @internal */
  readonly running: RunningCalls;
  /** Shares the main thread among the calls. @internal */
  readonly scheduler: FairScheduler;
  /** Stops the worker threads and closes the roots. No call may be running. */
  close(): Promise<void>;
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
  /**
   * Opens the history of a root; needed if the config has any. It is not imported here, because a start without
   * histories should not wait for them to be loaded.
   */
  readonly openHistory?: typeof openHistory | undefined;
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
export function openSharedService(options: SharedServiceOptions): SharedService {
  const { config, logger } = options;
  const opened = openRoots(options);
  const roots = new Roots(opened.roots);
  const search = new SearchPool();
  const statThread = new StatThread();
  return {
    roots,
    principals: config.auth && new Principals(config.auth, roots),
    rates: config.rateLimit && new RateLimiter(config.rateLimit),
    search,
    statThread,
    lineIndex: new LineIndexCache(),
    limits: { maxFullReadSize: config.maxFullReadSize },
    resultForms: new ResultForms(config),
    durable: config.durableWrites,
    ownerNames: new OwnerNames(),
    requestTimeout: config.requestTimeout,
    confirmTimeout: config.confirmTimeout,
    logger,
    activity: new Activity({ unusual: (what) => logger.warn(what, 'unusual activity') }),
    running: new RunningCalls(),
    scheduler: new FairScheduler(),
    close: async () => {
      await Promise.all([search.close(), statThread.close()]);
      opened.close();
    },
  };
}

interface OpenedRoots {
  readonly roots: readonly NamedRoot[];
  close(): void;
}

function openRoots(options: SharedServiceOptions): OpenedRoots {
  const { config, backend = chooseBackend(), openHistory = historiesUnavailable } = options;
  const roots: NamedRoot[] = [];
  const opened: Disposable[] = [];
  const close = (): void => {
    for (const each of opened.splice(0).reverse()) each[Symbol.dispose]();
  };
  for (const configured of config.roots) {
    const { name, path, origin, history } = configured;
    const allowed = new Set(allowedOn(configured));
    if (path === undefined) {
      roots.push({ kind: 'agent', root: { name }, allowed });
      continue;
    }
    try {
      const root = openRoot(configured, config, backend);
      opened.push(root);
      roots.push({ root, allowed, confirm: new Set(configured.confirm) });
      if (history !== undefined) opened.push(openHistory(root, history));
    } catch (error) {
      close();
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${config.file === undefined ? '' : `${config.file}: `}${origin}: ${error.message}`);
    }
  }
  return { roots, close };
}

function historiesUnavailable(): never {
  throw new Error('the config has a root with history, but openHistory is not given');
}

function openRoot(configured: LocalRootConfig, config: Config, backend: Backend): Root {
  const { name, path } = configured;
  try {
    return Root.open(name, path, backend, rulesOf(configured, config));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`the folder ${path} cannot be opened: ${code ?? 'unknown error'}`);
  }
}

function rulesOf({ path, readOnly = false, deny = [], protect = DEFAULT_PROTECT }: LocalRootConfig, { file }: Config) {
  return { readOnly, deny, protect: [...protect, ...ownFilePatterns(path, file)] };
}
