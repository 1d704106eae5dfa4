import os from 'node:os';
import { setTimeout as later } from 'node:timers/promises';
import { MemoryStore } from '../cluster/memory-store.ts';
import { serveStore } from '../cluster/serve-store.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { MIN_MEMORY } from '../config/defaults.ts';
import { type Hardening, hardenParent } from '../hardening/harden.ts';
import { ConnectionQueue } from '../processes/connection-queue.ts';
import { Supervisor } from '../processes/supervisor.ts';
import type { WorkerProcess } from '../processes/worker-process.ts';
import { compiledFile } from '../runtime/compiled-file.ts';
import { printable } from '../runtime/printable.ts';
import { newSecrets } from '../server/sessions/signing-keys.ts';
import { announce } from './banner.ts';
import { listenAt } from './listen-error.ts';
import { openLogOf } from './open-log.ts';
import { admittedRoots, NOT_ADMITTED } from './reload-config.ts';
import { lineFormat, loadServeConfig, type ServeOptions } from './serve-options.ts';
import type { WorkerReport, WorkerStart } from './serve-worker.ts';
import { drainNoticeMs } from './serving.ts';
import { signalsFor } from './signals.ts';
import { GRACE_MS } from './start.ts';
import { CommandError } from './terminal/command-error.ts';

const MAX_PROCESSES = 128;
/** How long a worker may take to end after its grace time, before it is killed. */
const LAST_MS = 1_000;
/** How long a worker may take to say its metrics. */
const METRICS_MS = 2_000;

/**
 * Serves over HTTP by several processes on one port until SIGTERM or SIGINT. This process accepts connections and hands
 * them over, replaces workers that die, and writes their log; it reads nothing of what clients send. SIGHUP loads the
 * config again, opens the log file anew and replaces the workers one by one. Raises `ConfigError`, `ListenError` and `CommandError`.
 */
export async function serveByProcesses(options: ServeOptions, processes: string): Promise<void> {
  const count = processCount(processes);
  const load = () => loadServeConfig(options);
  const config = await load();
  const log = await openLogOf(config, { formatLine: await lineFormat(options.logFormat) });
  const { logger } = log;
  const queue: ConnectionQueue = new ConnectionQueue(() => supervisor.workers);
  const startOf = (loaded: Config): WorkerStart => ({
    config: {
      ...loaded,
      host: config.host,
      port,
      // The lines of workers go to the log of this process.
      logFile: undefined,
      memory: Math.max(MIN_MEMORY, Math.floor(loaded.memory / count)),
    },
    secrets,
  });
  const secrets = newSecrets();
  const store = new MemoryStore();
  let isServing = false;
  const { stopped, begin } = signalsFor(load, () => supervisor.kill());
  const port = await listenAt(config, options, () => queue.listen(config.host, config.port));
  const hardening = await hardenParent(config);
  const supervisor = new Supervisor<WorkerStart>({
    entry: compiledFile(import.meta.url, './serve-worker.js'),
    count,
    start: startOf(config),
    onCrash: (what) => logger.error(what, 'a worker has ended; another one takes its place'),
    onLine: (line, worker) => {
      if (line.startsWith('{')) log.pass(line);
      else if (line !== '') logger.error({ worker, text: line }, 'output of a worker');
    },
    onFree: () => queue.handOut(),
    onReturned: (socket) => queue.takeBack(socket),
    onNew: ({ channel, ended }) => {
      channel.onCall('metrics of all', () => Promise.all([...supervisor.workers].map(metricsOf)));
      const endSubscriptions = serveStore(store, channel);
      void ended.then(endSubscriptions);
    },
  });
  const end = async (): Promise<void> => {
    queue.close();
    await supervisor.stop(GRACE_MS + LAST_MS);
    if (isServing) logger.info('stopped');
    await log.flush();
  };

  const starting = supervisor.start().then((problem) => ({ problem }));
  const outcome = await Promise.race([starting, stopped.then((signal) => ({ signal, problem: undefined }))]);
  if (outcome.problem !== undefined) {
    await end();
    const { message, isFinal } = outcome.problem;
    throw isFinal ? new ConfigError(message) : new CommandError(message + jailHint(hardening));
  }
  if ('signal' in outcome) return end();
  const report = [...supervisor.workers][0]?.report as WorkerReport;
  isServing = true;
  announce(config, logger, { ...report, facts: { ...report.facts, processes: count } });
  if (config.console) logger.warn('the console shows the calls of one process, so it is not served; /metrics is');
  process.on('SIGUSR2', () => {
    for (const worker of supervisor.workers) worker.kill('SIGUSR2');
  });
  let served = config;
  let rolled = Promise.resolve();
  const roll = async (loadAgain: typeof load): Promise<void> => {
    try {
      const loaded = await loadAgain();
      // Workers inherit what the kernel denies their parent.
      const inherited = { hardening, started: config, options: { listens: false }, config: served };
      const { roots, refused } = admittedRoots(loaded.roots, inherited);
      const next = { ...loaded, roots };
      const problem = await supervisor.roll(startOf(next));
      if (problem !== undefined) throw new ConfigError(problem);
      served = next;
      logger.info('all workers are replaced');
      if (refused.length > 0) logger.warn({ roots: refused }, NOT_ADMITTED);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      logger.error({ problem: error.message }, 'the config is not loaded again; the workers stay');
    }
  };
  begin({
    reload: (loadAgain) => {
      log.reopen();
      rolled = rolled.then(() => roll(loadAgain));
      return rolled;
    },
  });
  const why = await Promise.race([stopped, supervisor.failed.then((problem) => ({ problem }))]);
  if (typeof why === 'string') {
    const noticeMs = drainNoticeMs(config);
    if (noticeMs > 0) {
      for (const worker of supervisor.workers) worker.drain();
      logger.info({ signal: why }, 'draining');
      await later(noticeMs);
    }
    logger.info({ signal: why }, 'stopping');
  }
  await end();
  if (typeof why !== 'string') throw new CommandError(why.problem);
}

/** Returns what may keep workers from starting. */
function jailHint(hardening: Hardening): string {
  if (typeof hardening === 'string') return '';
  return "; if they need files besides Node's and these roots to start, RINGFENCE_LANDLOCK=off lets them";
}

/** Returns the metrics of a worker; an empty text if it does not answer. */
async function metricsOf({ channel }: WorkerProcess): Promise<string> {
  const answer = channel.call<string>('metrics').catch(() => '');
  return Promise.race([answer, later(METRICS_MS, '', { ref: false })]);
}

/** Returns how many processes `--processes` means. Raises `ConfigError`. */
function processCount(written: string): number {
  if (written === 'auto') return Math.min(MAX_PROCESSES, os.availableParallelism());
  if (/^\d{1,3}$/.test(written) && Number(written) >= 1 && Number(written) <= MAX_PROCESSES) return Number(written);
  throw new ConfigError(
    `--processes: must be an integer from 1 to ${MAX_PROCESSES}, or auto, got "${printable(written)}"`,
  );
}
