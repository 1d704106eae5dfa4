import { isatty } from 'node:tty';
import type { Config } from '../config/config.ts';

/** The signals that end a server. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
/** A shell that ends tells its jobs so, just before the terminal is gone. */
const LAST_OF_TERMINAL_MS = 100;

/**
 * Resolves with the first of some signals. A second one ends the process at once with exit code 1, after `onSecond`.
 */
function firstSignal(signals: readonly NodeJS.Signals[], onSecond: () => void = () => {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) {
        onSecond();
        process.exit(1);
      }
      asked = true;
      resolve(signal);
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
}

/** Loads the config again. */
type Load = () => Promise<Config>;

/** The signals to a server whose config may be loaded again. */
export interface ServerSignals {
  /** Resolves with the first signal to stop. */
  readonly stopped: Promise<NodeJS.Signals>;
  /** Says which server is to be reloaded. What was asked for before is done then. */
  begin(server: { reload(load: Load): Promise<void> }): void;
}

/**
 * Listens for signals. SIGTERM and SIGINT stop the server. SIGHUP loads its config again, unless it was started on a
 * terminal that is gone now; then, and without a `load`, it stops the server. A second signal ends the process at once with
 * exit code 1, after `onSecond`.
 */
export function signalsFor(load: Load | undefined, onSecond?: () => void): ServerSignals {
  if (load === undefined) return { stopped: firstSignal(STOP_SIGNALS, onSecond), begin: () => {} };
  let begin: ServerSignals['begin'] = () => {};
  const begun = new Promise<Parameters<typeof begin>[0]>((resolve) => {
    begin = resolve;
  });
  const reload = (): void => void begun.then((server) => server.reload(load));
  const hungUp = new Promise<NodeJS.Signals>((resolve) => {
    process.on(
      'SIGHUP',
      hangupHandler(reload, () => resolve('SIGHUP')),
    );
  });
  return { stopped: Promise.race([firstSignal(['SIGTERM', 'SIGINT'], onSecond), hungUp]), begin };
}

/**
 * Returns a handler that tells the two meanings of SIGHUP apart: after a terminal was hung up, the descriptors that were
 * one are none any more.
 */
function hangupHandler(reload: () => void, stop: () => void): () => void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  if (terminals.length === 0) return reload;
  return () => void setTimeout(() => (terminals.every((fd) => isatty(fd)) ? reload() : stop()), LAST_OF_TERMINAL_MS);
}
