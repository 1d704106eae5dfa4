import type { Coroutine } from '../task/steps.ts';

/** How long one lane runs before the next has its turn. */
const TURN_MS = 8;

export interface RoundRobinJob {
  readonly steps: Coroutine<unknown>;
  done(result: unknown): void;
  failed(error: unknown): void;
}

/**
 * Runs jobs on one thread so that none waits for the whole of another: jobs in one lane run one after the other, lanes
 * take turns, and between two turns the thread looks at its messages.
 */
export class RoundRobin {
  /** The lane whose turn it is first. None is empty. */
  readonly #queues = new Map<string | number, RoundRobinJob[]>();
  #running = false;

  add(key: string | number, job: RoundRobinJob): void {
    const jobs = this.#queues.get(key);
    if (jobs === undefined) this.#queues.set(key, [job]);
    else jobs.push(job);
    this.#wake();
  }

  #wake(): void {
    if (this.#running || this.#queues.size === 0) return;
    this.#running = true;
    setImmediate(() => {
      this.#running = false;
      this.#turn();
      this.#wake();
    });
  }

  #turn(): void {
    for (const [key, jobs] of this.#queues) {
      this.#queues.delete(key);
      if (finished(jobs[0] as RoundRobinJob, performance.now() + TURN_MS)) jobs.shift();
      if (jobs.length > 0) this.#queues.set(key, jobs);
      return;
    }
  }
}

/** Goes on with a job until it is finished or the time is over. */
function finished(job: RoundRobinJob, until: number): boolean {
  try {
    do {
      const { done, value } = job.steps.next();
      if (!done) continue;
      job.done(value);
      return true;
    } while (performance.now() < until);
    return false;
  } catch (error) {
    job.failed(error);
    return true;
  }
}
