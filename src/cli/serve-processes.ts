import os from 'node:os';
import { ConfigError } from '../config/config-error.ts';
import { printable } from '../runtime/printable.ts';
import { MultiProcessServer } from './multi-process-server.ts';
import { openLogOf } from './open-log.ts';
import { lineFormat, loadServeConfig, type ServeOptions } from './serve-options.ts';
import { signalsFor } from './signals.ts';
import { CommandError } from './terminal/command-error.ts';

const MAX_PROCESSES = 128;

/**
 * Serves over HTTP by several processes on one port until SIGTERM or SIGINT. This process accepts connections and hands
 * them over, replaces workers that die, and writes their log; it reads nothing of what clients send. SIGHUP loads the
 * config again, opens the log file anew and replaces the workers one by one. Raises `ConfigError`, `ListenError` and
 * `CommandError`.
 */
export async function serveByProcesses(options: ServeOptions, processes: string): Promise<void> {
  const count = processCount(processes);
  const load = () => loadServeConfig(options);
  const config = await load();
  const log = await openLogOf(config, { formatLine: await lineFormat(options.logFormat) });
  const server = new MultiProcessServer({ config, count, log });
  const { stopped, begin } = signalsFor(load, () => server.kill());
  try {
    const early = await Promise.race([server.start(options), stopped]);
    if (early !== undefined) return;
    server.announce();
    begin(server);
    const why = await Promise.race([stopped, server.failed.then((problem) => ({ problem }))]);
    if (typeof why !== 'string') throw new CommandError(why.problem);
    await server.drain({ signal: why });
  } finally {
    await server.stop();
  }
}

/** Returns how many processes `--processes` means. Raises `ConfigError`. */
function processCount(written: string): number {
  if (written === 'auto') return Math.min(MAX_PROCESSES, os.availableParallelism());
  if (/^\d{1,3}$/.test(written) && Number(written) >= 1 && Number(written) <= MAX_PROCESSES) return Number(written);
  throw new ConfigError(
    `--processes: must be an integer from 1 to ${MAX_PROCESSES}, or auto, got "${printable(written)}"`,
  );
}
