import { setTimeout as later } from 'node:timers/promises';
import { describeThrown } from '../audit/describe-thrown.ts';
import type { Log } from '../audit/log.ts';
import { MemoryStore } from '../cluster/memory-store.ts';
import { serveStore } from '../cluster/serve-store.ts';
import type { StoreProblem } from '../cluster/shared-store.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { MIN_MEMORY } from '../config/defaults.ts';
import { type Hardening, hardenParent } from '../hardening/harden.ts';
import { ConnectionQueue } from '../processes/connection-queue.ts';
import { Supervisor } from '../processes/supervisor.ts';
import type { WorkerProcess } from '../processes/worker-process.ts';
import { atMost } from '../runtime/at-most.ts';
import { compiledFile } from '../runtime/compiled-file.ts';
import { cacheBytesOfAll } from '../server/clients/cache-bounds.ts';
import { CommonOutage, loggedOutage } from '../server/cluster/store-outage.ts';
import { RELAYED_BYTES } from '../server/sessions/result-relay.ts';
import { newSecrets } from '../server/sessions/signing-keys.ts';
import { announce } from './banner.ts';
import { keptByParent } from './config-changes.ts';
import { type ListenFlags, listenAt } from './listen-error.ts';
import { admittedRoots, KEYS_NEED_RESTART, NOT_ADMITTED } from './reload-config.ts';
import type { WorkerReport, WorkerStart } from './serve-worker.ts';
import { drainNoticeMs } from './serving.ts';
import { GRACE_MS } from './start.ts';
import { CommandError } from './terminal/command-error.ts';

/**
 * How long a worker may take to end after its grace time, before it is killed: a bit longer than a Redis that hangs may
 * take for the last figures. Together with the grace time it is less than the 10 seconds that Docker waits.
 */
const LAST_MS = 1_250;
/** How long a worker may take to say its metrics. */
const METRICS_MS = 2_000;

/** Options of a `MultiProcessServer`. */
interface MultiProcessOptions {
  readonly config: Config;
  /** How many processes serve. */
  readonly count: number;
  readonly log: Log;
}

/**
 * The parent of several processes that serve on one port: has the port, keeps what the workers have in common unless
 * Redis does, and writes their log. It reads nothing of what clients send.
 */
export class MultiProcessServer {
  /** The config of the start, which the kernel holds this process to. */
  readonly #started: Config;
  readonly #count: number;
  readonly #log: Log;
  readonly #supervisor: Supervisor<WorkerStart>;
  readonly #queue: ConnectionQueue;
  readonly #store: MemoryStore;
  readonly #outage: CommonOutage;
  readonly #secrets = newSecrets();
  #port = 0;
  #hardening: Hardening = 'off';
  /** The config that the workers serve. */
  #served: Config;
  #reloading: Promise<void> = Promise.resolve();
  #isServing = false;
  /** How much of the grace time has passed before the workers are told to stop. */
  #noticedMs = 0;

  /** Starts nothing. */
  constructor({ config, count, log }: MultiProcessOptions) {
    this.#started = config;
    this.#served = config;
    this.#count = count;
    this.#log = log;
    this.#store = new MemoryStore({ maxBlobBytes: blobBytes(config) });
    this.#outage = new CommonOutage(loggedOutage(log.logger));
    this.#supervisor = new Supervisor<WorkerStart>({
      entry: compiledFile(import.meta.url, './serve-worker.js'),
      count,
      onCrash: (what) => log.logger.error(what, 'a worker has ended; another one takes its place'),
      onLine: (line, worker) => this.#passOn(line, worker),
      onFree: () => this.#queue.handOut(),
      onReturned: (socket) => this.#queue.takeBack(socket),
      onNew: (worker) => this.#answer(worker),
    });
    this.#queue = new ConnectionQueue(() => this.#supervisor.workers);
  }

  /** Settles if no worker can be kept running: with why. */
  get failed(): Promise<string> {
    return this.#supervisor.failed;
  }

  /**
   * Opens the port, confines this process and starts the workers. Resolves once all serve, or once `stop` was called.
   * Raises `ConfigError`, `ListenError` and `CommandError`: then call `stop`.
   */
  async start(flags: ListenFlags): Promise<void> {
    const { host, port } = this.#started;
    // Connections that arrive from here on wait for the first worker.
    this.#port = await listenAt(this.#started, flags, () => this.#queue.listen(host, port));
    this.#hardening = await hardenParent(this.#started);
    const problem = await this.#supervisor.start(this.#startOf(this.#started));
    if (problem?.isFinal) throw new ConfigError(problem.message);
    if (problem !== undefined) throw new CommandError(problem.message + jailHint(this.#hardening));
  }

  /** Says that all workers serve. */
  announce(): void {
    const { logger } = this.#log;
    const report = this.#supervisor.report as WorkerReport;
    this.#isServing = true;
    // The console is not served.
    announce({ ...this.#started, console: false }, logger, {
      ...report,
      facts: { ...report.facts, processes: this.#count },
    });
    if (this.#started.console)
      logger.warn('the console shows the calls of one process, so it is not served; /metrics is');
    process.on('SIGUSR2', () => {
      for (const worker of this.#supervisor.workers) worker.kill('SIGUSR2');
    });
  }

  /**
   * Opens the log file anew, loads the config once more and replaces the workers one by one. Never overlaps itself, and
   * never rejects.
   */
  reload(load: () => Promise<Config>): Promise<void> {
    this.#log.reopen();
    this.#reloading = this.#reloading.then(() => this.#roll(load));
    return this.#reloading;
  }

  /** Lets balancers see that this server is going to stop, where there are some. */
  async drain(why: Readonly<Record<string, unknown>>): Promise<void> {
    const { logger } = this.#log;
    const noticeMs = drainNoticeMs(this.#served);
    if (noticeMs > 0) {
      this.#supervisor.drain();
      logger.info(why, 'draining');
      await later(noticeMs);
      this.#noticedMs = noticeMs;
    }
    logger.info(why, 'stopping');
  }

  /** Closes the port, lets the workers finish their calls within the grace time, and flushes the log. */
  async stop(): Promise<void> {
    this.#queue.close();
    await this.#supervisor.stop(GRACE_MS - this.#noticedMs + LAST_MS);
    if (this.#isServing) this.#log.logger.info('stopped');
    await this.#log.flush();
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#supervisor.kill();
  }

  async #roll(load: () => Promise<Config>): Promise<void> {
    const { logger } = this.#log;
    try {
      const loaded = await load();
      // Workers inherit what the kernel denies their parent.
      const inherited = { hardening: this.#hardening, started: this.#started, options: { listens: false } };
      const { roots, refused } = admittedRoots(loaded.roots, { ...inherited, config: this.#served });
      const next = { ...loaded, roots };
      const end = await this.#supervisor.roll(this.#startOf(next));
      if (end === 'stopped') return;
      if (end !== 'replaced' && end.replaced === 0) throw new ConfigError(end.message);
      this.#served = next;
      this.#store.limitBlobs(blobBytes(next));
      logger.level = next.logLevel;
      if (end === 'replaced') logger.info('all workers are replaced');
      else logger.error({ problem: end.message, replaced: end.replaced }, 'some workers stay, with the former config');
      const kept = keptByParent(this.#started, loaded);
      if (kept.length > 0) logger.warn({ keys: kept }, KEYS_NEED_RESTART);
      if (refused.length > 0) logger.warn({ roots: refused }, NOT_ADMITTED);
    } catch (error) {
      const why = error instanceof ConfigError ? { problem: error.message } : { error: describeThrown(error) };
      logger.error(why, 'the config is not loaded again; the workers stay');
    }
  }

  #startOf(config: Config): WorkerStart {
    return {
      config: {
        ...config,
        host: this.#started.host,
        port: this.#port,
        // The lines of workers go to the log of this process.
        logFile: undefined,
        memory: Math.max(MIN_MEMORY, Math.floor(config.memory / this.#count)),
      },
      secrets: this.#secrets,
    };
  }

  #passOn(line: string, worker: number): void {
    if (line.startsWith('{')) this.#log.pass(line);
    else if (line !== '') this.#log.logger.error({ worker, text: line }, 'output of a worker');
  }

  /** Answers what a worker asks of its parent. */
  #answer({ channel, number, ended }: WorkerProcess): void {
    channel.onCall('metrics of all', () => Promise.all([...this.#supervisor.workers].map(metricsOf)));
    channel.onNotice('redis lost', ([problem]) => this.#outage.lost(number, problem as StoreProblem));
    channel.onNotice('redis back', () => this.#outage.back(number));
    const endSubscriptions = serveStore(this.#store, channel);
    void ended.then(() => {
      endSubscriptions();
      this.#outage.ended(number);
    });
  }
}

/** Returns what may keep workers from starting. */
function jailHint(hardening: Hardening): string {
  if (typeof hardening === 'string') return '';
  return "; if they need files besides Node's and these roots to start, RINGFENCE_LANDLOCK=off lets them";
}

/** Returns the metrics of a worker; an empty text if it does not answer. */
function metricsOf({ channel }: WorkerProcess): Promise<string> {
  const answer = channel.call<string>('metrics').catch(() => '');
  return atMost(METRICS_MS, answer, () => '');
}

/**
 * How much the store in the memory of the parent may hold: files of clients, and results of calls that wait for them.
 */
function blobBytes(config: Config): number {
  return cacheBytesOfAll(config) + RELAYED_BYTES;
}
