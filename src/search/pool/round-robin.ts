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

/** Which queue a job waits in: that of its search, among those of its share. */
interface QueueKey {
  readonly share: string;
  readonly search: number;
}

/**
 * Round-robin scheduler for coroutines on one thread (https://en.wikipedia.org/wiki/Round-robin_scheduling), in two
 * levels: shares take turns of 8 ms, and in the turn of a share one of its searches runs, each in its turn. Jobs of one
 * search run one after another. Between turns the thread handles messages.
 *
 * It is not preemptive: a job that does not yield holds the thread.
 */
export class RoundRobin {
  /** Shares in the order of their turns, each with its searches in theirs. No queue is empty. */
  readonly #shares = new Map<string, Map<number, RoundRobinJob[]>>();
  #running = false;

  /** Queues a job behind all jobs of the same search. */
  add({ share, search }: QueueKey, job: RoundRobinJob): void {
    let searches = this.#shares.get(share);
    if (searches === undefined) {
      searches = new Map();
      this.#shares.set(share, searches);
    }
    const jobs = searches.get(search);
    if (jobs === undefined) searches.set(search, [job]);
    else jobs.push(job);
    this.#wake();
  }

  #wake(): void {
    if (this.#running || this.#shares.size === 0) return;
    this.#running = true;
    setImmediate(() => {
      this.#running = false;
      this.#turn();
      this.#wake();
    });
  }

  #turn(): void {
    for (const [share, searches] of this.#shares) {
      this.#shares.delete(share);
      turnOf(searches);
      if (searches.size > 0) this.#shares.set(share, searches);
      return;
    }
  }
}

/** Runs the next search of a share, which then comes last. */
function turnOf(searches: Map<number, RoundRobinJob[]>): void {
  for (const [search, jobs] of searches) {
    searches.delete(search);
    if (runUntil(jobs[0] as RoundRobinJob, performance.now() + TURN_MS)) jobs.shift();
    if (jobs.length > 0) searches.set(search, jobs);
    return;
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
