/** Work that can be suspended at each `yield` and resumed later. */
export type Coroutine<T> = Generator<undefined, T>;

/** Time slice of one queue. */
const TURN_MS = 8;

/** A coroutine, and what to call when it returns or throws. */
export interface RoundRobinJob {
  readonly work: Coroutine<unknown>;
  done(result: unknown): void;
  failed(error: unknown): void;
}

/**
 * Round-robin scheduler for coroutines on one thread (https://en.wikipedia.org/wiki/Round-robin_scheduling). Jobs with
 * the same key run one after another; keys take turns of 8 ms, and between turns the thread handles messages.
 *
 * It is not preemptive: a job that does not yield holds the thread.
 */
export class RoundRobin {
  /** Non-empty queues in the order of their turns. */
  readonly #queues = new Map<string | number, RoundRobinJob[]>();
  #running = false;

  /** Queues a job behind all jobs with the same key. */
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
      if (runUntil(jobs[0] as RoundRobinJob, performance.now() + TURN_MS)) jobs.shift();
      if (jobs.length > 0) this.#queues.set(key, jobs);
      return;
    }
  }
}

/** Resumes a job until it has ended or the time is over. Returns whether it has ended. */
function runUntil(job: RoundRobinJob, until: number): boolean {
  try {
    do {
      const { done, value } = job.work.next();
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
