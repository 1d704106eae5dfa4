import type { Socket } from 'node:net';
import { atMost } from '../runtime/at-most.ts';
import { howEnded, type StartProblem, type WorkerEnd, WorkerProcess } from './worker-process.ts';

/** After a worker that has served for so long, the next one starts at once. */
const STABLE_MS = 10_000;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;
/** After so many workers one after another that ended before they served, and with none left, nobody tries any more. */
const MAX_FAILURES = 5;
/** How long a worker may take to start. */
const START_MS = 60_000;

/** What a supervisor reports. */
interface SupervisorEvents {
  /** A worker has ended that was not told to. `delayMs` is when another one starts. */
  onCrash(what: { readonly worker: number; readonly how: string; readonly delayMs: number }): void;
  /** A line that a worker wrote to stderr, without its line break. */
  onLine(line: string, worker: number): void;
  /** A worker can take a connection. */
  onFree(): void;
  /** A worker has ended before it took a connection that it was handed. */
  onReturned(socket: Socket): void;
  /** Sets up what a new worker asks of its parent. */
  onNew(worker: WorkerProcess): void;
}

/** Options of a `Supervisor`. */
export interface SupervisorOptions<Start> extends SupervisorEvents {
  /** The compiled module that workers run. */
  readonly entry: URL;
  /** How many workers there are. */
  readonly count: number;
  /** What workers are told first. */
  readonly start: Start;
}

/** Keeps a number of workers running: one that dies is replaced, sooner if it had served for a while. */
export class Supervisor<Start> {
  readonly #options: SupervisorOptions<Start>;
  readonly #workers = new Set<WorkerProcess>();
  /** Settles if no worker can be kept running: with why. */
  readonly failed: Promise<string>;
  #fail: (message: string) => void = () => {};
  #start: Start;
  #lastNumber = 0;
  /** How many workers in a row ended before they served. */
  #failures = 0;
  /** How many times in a row workers had to be replaced that had not served for long. */
  #replacements = 0;
  #refill: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(options: SupervisorOptions<Start>) {
    this.#options = options;
    this.#start = options.start;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** All workers that have not ended, also those that start or leave. */
  get workers(): ReadonlySet<WorkerProcess> {
    return this.#workers;
  }

  /**
   * Starts all workers. Resolves with undefined once all serve, or with why one of them does not: then call `stop`. A
   * worker that ended without a reason is tried again a few times.
   */
  async start(): Promise<StartProblem | undefined> {
    let givenUp: StartProblem | undefined;
    const failed = this.failed.then((message) => {
      givenUp = { message, isFinal: false };
      return givenUp;
    });
    this.#fill();
    while (this.#serving().length < this.#options.count) {
      const starting = [...this.#workers].filter(({ isServing, isLeaving }) => !isServing && !isLeaving);
      const next = starting.length > 0 ? starting.map(({ started }) => started) : [pause(MIN_DELAY_MS)];
      const problem = await Promise.race([failed, ...next]);
      if (problem !== undefined && (problem.isFinal || problem === givenUp)) return problem;
    }
    return undefined;
  }

  /**
   * Replaces all workers, one after another, by such that are told something else first: each starts before the one that
   * it replaces gets no more connections. If the first does not start, all stay as they were; resolves with why.
   */
  async roll(start: Start): Promise<string | undefined> {
    const isFormer = (worker: WorkerProcess): boolean => !worker.isLeaving && worker.start !== start;
    for (let first = true; ; first = false) {
      // Looked for anew each time: meanwhile one may have died, and another one have taken its place.
      const former = [...this.#workers].find(isFormer);
      if (former === undefined || this.#isClosing) return undefined;
      const next = this.#launch(start);
      const problem = await startedInTime(next);
      if (problem !== undefined) {
        next.discard();
        if (first) return problem.message;
      }
      this.#start = start;
      former.retire();
      this.#fill();
    }
  }

  /** Lets all workers finish their calls and end, and kills those that take longer. */
  async stop(milliseconds: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#refill);
    for (const worker of this.#workers) worker.stop();
    const ended = () => Promise.all([...this.#workers].map((worker) => worker.ended));
    await atMost(milliseconds, ended());
    this.kill();
    await ended();
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#isClosing = true;
    for (const worker of this.#workers) worker.discard();
  }

  #serving(): readonly WorkerProcess[] {
    return [...this.#workers].filter(({ isServing }) => isServing);
  }

  /** Starts as many workers as are missing. */
  #fill(): void {
    this.#refill = undefined;
    const missing = () => this.#options.count - [...this.#workers].filter(({ isLeaving }) => !isLeaving).length;
    while (!this.#isClosing && missing() > 0) this.#launch(this.#start);
  }

  #launch(start: Start): WorkerProcess {
    const { entry, onLine, onFree, onReturned, onNew } = this.#options;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const worker = new WorkerProcess({
      entry,
      number,
      start,
      onLine: (line) => onLine(line, number),
      onFree,
      onReturned,
      onLeaving: () => this.#fill(),
    });
    this.#workers.add(worker);
    onNew(worker);
    void worker.ended.then((end) => this.#ended(worker, end));
    return worker;
  }

  #ended(worker: WorkerProcess, end: WorkerEnd): void {
    this.#workers.delete(worker);
    if (this.#isClosing || worker.isLeaving) return;
    this.#failures = worker.hasServed ? 0 : this.#failures + 1;
    const how = howEnded(end);
    if (this.#failures >= MAX_FAILURES && this.#serving().length === 0) {
      this.#fail(`${this.#failures} workers ended one after another before they served, the last ${how}`);
      return;
    }
    const isQuick = performance.now() - worker.startedAt < STABLE_MS;
    // Workers that end together are replaced together.
    if (this.#refill === undefined) this.#replacements = isQuick ? this.#replacements + 1 : 0;
    const delayMs = isQuick ? Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** Math.max(0, this.#replacements - 1)) : 0;
    this.#options.onCrash({ worker: worker.number, how, delayMs });
    this.#refill ??= setTimeout(() => this.#fill(), delayMs);
  }
}

async function startedInTime(worker: WorkerProcess): Promise<StartProblem | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<StartProblem>((resolve) => {
    timer = setTimeout(resolve, START_MS, { message: `it did not start within ${START_MS / 1000} s`, isFinal: false });
  });
  const problem = await Promise.race([worker.started, late]);
  clearTimeout(timer);
  return problem;
}

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds);
  });
}
