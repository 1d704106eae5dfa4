import type { Logger } from 'pino';
import type { StoreProblem } from '../../cluster/shared-store.ts';

/** Is told when Redis cannot be used, and when it can again. */
export interface OutageListener {
  lost(problem: StoreProblem): void;
  back(): void;
}

/** Returns what writes a line into the log for each. */
export function loggedOutage(logger: Logger): OutageListener {
  return {
    lost: (problem) =>
      logger.warn({ problem }, 'redis is not available; what needs it is refused or kept by this replica'),
    back: () => logger.info('redis is available again'),
  };
}

/**
 * How long an outage goes on after the last process that had noticed it has ended: longer than its successor takes to
 * start and to notice it.
 */
const SUCCESSOR_MS = 10_000;

/**
 * One outage of Redis as several processes see it: it begins with the first that says so, and ends when all have it
 * again.
 */
export class CommonOutage {
  readonly #listener: OutageListener;
  /** The numbers of the processes that cannot use it. */
  readonly #without = new Set<number>();
  #isOutage = false;
  #ending: NodeJS.Timeout | undefined;

  constructor(listener: OutageListener) {
    this.#listener = listener;
  }

  lost(process: number, problem: StoreProblem): void {
    clearTimeout(this.#ending);
    this.#without.add(process);
    if (this.#isOutage) return;
    this.#isOutage = true;
    this.#listener.lost(problem);
  }

  back(process: number): void {
    if (this.#without.delete(process)) this.#endIfOver();
  }

  /** Says that a process has ended. */
  ended(process: number): void {
    if (!this.#without.delete(process) || this.#without.size > 0) return;
    clearTimeout(this.#ending);
    this.#ending = setTimeout(() => this.#endIfOver(), SUCCESSOR_MS).unref();
  }

  #endIfOver(): void {
    if (this.#without.size > 0 || !this.#isOutage) return;
    clearTimeout(this.#ending);
    this.#isOutage = false;
    this.#listener.back();
  }
}
