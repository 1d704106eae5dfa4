import type { Socket } from 'node:net';
import { atMost } from '../runtime/at-most.ts';
import { KeyedMutex } from '../runtime/keyed-mutex.ts';
import { howEnded, type StartProblem, type WorkerEnd, WorkerProcess } from './worker-process.ts';

/** After a worker that has served for so long, the next one starts at once. */
const STABLE_MS = 10_000;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;
/** After so many workers one after another that ended before they served, and with none left, nobody tries any more. */
const MAX_FAILURES = 5;
/** How long a worker may take to start by default. */
const START_MS = 60_000;
/**
 * How long a worker with SIGTERM waits to be replaced. If the signal went to all processes, as from systemd, the parent
 * has it by then, and ends them all instead.
 */
const SIGNAL_FOR_ALL_MS = 200;
/** How long workers take at most to end when they are killed, unless nothing can end them, such as a mount that hangs. */
const KILLED_MS = 500;
/** How many workers are tried in place of one that is to be replaced. */
const MAX_ATTEMPTS = 3;

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
export interface SupervisorOptions extends SupervisorEvents {
  /** The compiled module that workers run. */
  readonly entry: URL;
  /** How many workers there are. */
  readonly count: number;
  /** How long a worker may take to start; by default 60 s. */
  readonly startMs?: number;
}

/** Why not all workers were replaced. */
interface RollProblem {
  /** Why a worker did not start. */
  readonly message: string;
  /** How many were replaced before. */
  readonly replaced: number;
}

/** How a roll ended: `stopped` if all workers were stopped meanwhile. */
type RollEnd = 'replaced' | 'stopped' | RollProblem;

/**
 * Keeps a number of workers running, from `start` on: one that dies is replaced, sooner if it had served for a while.
 * `Start` is what workers are told first.
 */
export class Supervisor<Start> {
  readonly #options: SupervisorOptions;
  readonly #workers = new Set<WorkerProcess>();
  /** Settles if no worker can be kept running: with why. */
  readonly failed: Promise<string>;
  #fail: (message: string) => void = () => {};
  #start: Start | undefined;
  #lastNumber = 0;
  /** How many workers in a row ended before they served. */
  #failures = 0;
  /** How many times in a row workers had to be replaced that had not served for long. */
  #replacements = 0;
  #refill: NodeJS.Timeout | undefined;
  /** Workers that serve are replaced one after another, or one of them might be replaced twice. */
  readonly #replacing = new KeyedMutex();
  #isDraining = false;
  #isClosing = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** All workers that have not ended, also those that start or leave. */
  get workers(): ReadonlySet<WorkerProcess> {
    return this.#workers;
  }

  /** What the first worker that serves has said of itself. Undefined if none does. */
  get report(): unknown {
    return this.#serving()[0]?.report;
  }

  /**
   * Starts all workers. Resolves with undefined once all serve, or `stop` was called, or with why one of them does not:
   * then call `stop`. A worker that ended without a reason is tried again a few times.
   */
  async start(start: Start): Promise<StartProblem | undefined> {
    this.#start = start;
    let givenUp: StartProblem | undefined;
    const failed = this.failed.then((message) => {
      givenUp = { message, isFinal: false };
      return givenUp;
    });
    this.#fill();
    while (!this.#isClosing && this.#serving().length < this.#options.count) {
      const starting = [...this.#workers].filter(({ isServing, isLeaving }) => !isServing && !isLeaving);
      const next = starting.length > 0 ? starting.map(({ started }) => started) : [pause(MIN_DELAY_MS)];
      const problem = await Promise.race([failed, ...next]);
      if (problem !== undefined && (problem.isFinal || problem === givenUp)) return problem;
    }
    return undefined;
  }

  /**
   * Replaces all workers, one after another, by workers with this `start`: each serves before the one that it replaces
   * is told to leave. If none can be started, the former worker stays, and so do those after it.
   */
  roll(start: Start): Promise<RollEnd> {
    return this.#replacing.runExclusive('', () => this.#roll(start));
  }

  async #roll(start: Start): Promise<RollEnd> {
    const isFormer = (worker: WorkerProcess): boolean => !worker.isLeaving && worker.start !== start;
    for (let replaced = 0; ; replaced += 1) {
      if (this.#isEnding) return 'stopped';
      // Looked for each time, because a former worker may have died and been replaced since.
      const former = [...this.#workers].find(isFormer);
      if (former === undefined) return 'replaced';
      const problem = await this.#launchServing(start);
      if (this.#isEnding) return 'stopped';
      if (problem !== undefined) return { message: problem.message, replaced };
      this.#start = start;
      former.retire();
      this.#fill();
    }
  }

  /**
   * Lets all workers say that they are not ready, and go on until `stop`. One that dies is replaced by one that says so,
   * too; no other one is replaced.
   */
  drain(): void {
    this.#isDraining = true;
    for (const worker of this.#workers) worker.drain();
  }

  /**
   * Lets all workers finish their calls and end, and kills those that take longer. Waits half a second at most for those
   * that it has killed: the kernel ends none that waits for a mount that hangs.
   */
  async stop(milliseconds: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#refill);
    for (const worker of this.#workers) worker.stop();
    const ended = () => Promise.all([...this.#workers].map((worker) => worker.ended));
    await atMost(milliseconds, ended());
    this.kill();
    await atMost(KILLED_MS, ended());
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#isClosing = true;
    for (const worker of this.#workers) worker.discard();
  }

  /** Whether all workers are about to end. */
  get #isEnding(): boolean {
    return this.#isDraining || this.#isClosing;
  }

  #serving(): readonly WorkerProcess[] {
    return [...this.#workers].filter(({ isServing }) => isServing);
  }

  /** Starts as many workers as are missing. */
  #fill(): void {
    this.#refill = undefined;
    const missing = () => this.#options.count - [...this.#workers].filter(({ isLeaving }) => !isLeaving).length;
    while (!this.#isClosing && missing() > 0) this.#launch(this.#start as Start);
  }

  /**
   * Starts one more worker, and tries again if it ends without a reason. Resolves once it serves, or with why none
   * does.
   */
  async #launchServing(start: Start): Promise<StartProblem | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const worker = this.#launch(start);
      const problem = await worker.started;
      if (problem === undefined) return undefined;
      worker.discard();
      // A worker that died since was not replaced, because this one counted as its replacement.
      this.#fill();
      if (problem.isFinal || attempt === MAX_ATTEMPTS || this.#isClosing) return problem;
      await pause(MIN_DELAY_MS * 2 ** attempt);
      if (this.#isClosing) return problem;
    }
  }

  #launch(start: Start): WorkerProcess {
    const { entry, startMs = START_MS, onLine, onFree, onReturned, onNew } = this.#options;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const worker: WorkerProcess = new WorkerProcess({
      entry,
      number,
      start,
      startMs,
      onLate: () => this.#replace(worker, `because it did not start within ${startMs / 1000} s`),
      onLine: (line) => onLine(line, number),
      onFree,
      onReturned,
      onTerminated: () => {
        const replace = () => this.#replacing.runExclusive('', () => this.#replaceTerminated(worker));
        setTimeout(() => void replace(), SIGNAL_FOR_ALL_MS).unref();
      },
    });
    this.#workers.add(worker);
    onNew(worker);
    if (this.#isDraining) worker.drain();
    void worker.ended.then((end) => this.#ended(worker, end));
    return worker;
  }

  #ended(worker: WorkerProcess, end: WorkerEnd): void {
    this.#workers.delete(worker);
    if (!worker.isLeaving) this.#replace(worker, howEnded(end));
  }

  /** Starts another worker in place of one that has got SIGTERM, which leaves when that one serves. */
  async #replaceTerminated(worker: WorkerProcess): Promise<void> {
    const isGone = () => this.#isEnding || worker.isLeaving || !this.#workers.has(worker);
    if (isGone()) return;
    await this.#launchServing(this.#start as Start);
    if (isGone()) return;
    worker.retire();
    this.#fill();
  }

  /** Starts another worker in place of one that was not told to end, after a delay. */
  #replace(worker: WorkerProcess, how: string): void {
    if (this.#isClosing) return;
    this.#failures = worker.hasServed ? 0 : this.#failures + 1;
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

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds);
  });
}
