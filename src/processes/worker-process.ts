import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { LineSplitter } from '../runtime/line-splitter.ts';
import { ProcessChannel } from '../runtime/process-channel.ts';

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Why a worker does not serve. */
export interface StartProblem {
  readonly message: string;
  /** Whether the worker said so itself: then another one would not start either. */
  readonly isFinal: boolean;
}

/** What a worker is for its parent. */
export interface WorkerProcessOptions<Start> {
  /** The compiled module that the worker runs. It must call `serveParentProcess`. */
  readonly entry: URL;
  /** Its number: that of the next worker is larger. */
  readonly number: number;
  /** What the worker is told first. It may hold secrets, which are in no argument and no variable. */
  readonly start: Start;
  /** How long it may take to start. After that it is killed. */
  readonly startMs: number;
  /** Called when it is killed because it took longer. */
  onLate(): void;
  /** Takes a line that the worker wrote to stderr, without its line break. */
  onLine(line: string): void;
  /** Called when the worker can take a connection. */
  onFree(): void;
  /** Called with a connection that was handed over, but that the worker did not take before it ended. */
  onReturned(socket: Socket): void;
  /** Called when the worker has got SIGTERM. It goes on until it is told to leave. */
  onTerminated(): void;
}

/** A worker as its parent sees it. */
export class WorkerProcess<Start = unknown> {
  readonly number: number;
  /** What it was told first. */
  readonly start: Start;
  readonly channel: ProcessChannel;
  readonly startedAt = performance.now();
  /** Resolves with undefined once it takes connections, or with the reason if it does not. */
  readonly started: Promise<StartProblem | undefined>;
  readonly ended: Promise<WorkerEnd>;
  readonly #child: ChildProcess;
  #state: 'starting' | 'serving' | 'ended' = 'starting';
  #hasServed = false;
  #report: unknown;
  #connections = 0;
  #handedOver = 0;
  /** The connection that it is being handed. */
  #handed: Socket | undefined;
  #isLeaving = false;

  constructor(options: WorkerProcessOptions<Start>) {
    const { entry, number, start, startMs, onLate, onLine, onFree, onReturned, onTerminated } = options;
    this.number = number;
    this.start = start;
    this.#child = fork(fileURLToPath(entry), [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    const channel = new ProcessChannel(this.#child);
    this.channel = channel;
    const lines = new LineSplitter();
    this.#child.stderr?.on('data', (chunk: Buffer) => lines.add(chunk).forEach(onLine));
    this.ended = new Promise((resolve) => {
      // After `close`, all that it wrote has been read.
      this.#child.once('close', (code, signal) => {
        this.#state = 'ended';
        lines.end().forEach(onLine);
        resolve({ code, signal });
      });
      this.#child.once('error', () => {
        this.#state = 'ended';
        resolve({ code: null, signal: null });
      });
    });
    this.started = new Promise((resolve) => {
      const settle = (problem?: StartProblem): void => {
        clearTimeout(timer);
        resolve(problem);
      };
      const timer = setTimeout(() => {
        if (this.#isLeaving) return;
        this.discard();
        settle({ message: `it did not start within ${startMs / 1000} s`, isFinal: false });
        onLate();
      }, startMs);
      channel.onNotice('serving', ([report]) => {
        this.#report = report;
        this.#hasServed = true;
        if (this.#state === 'starting') this.#state = 'serving';
        settle();
        onFree();
      });
      channel.onCall('failed', (message: string) => settle({ message, isFinal: true }));
      void this.ended.then((end) => settle({ message: `it ended ${howEnded(end)}`, isFinal: false }));
    });
    channel.onNotice('terminated', onTerminated);
    channel.onNotice('taken', () => {
      // Closes this process's descriptor of it, not the connection.
      this.#handed?.destroy();
      this.#handed = undefined;
      onFree();
    });
    channel.onNotice('closed', () => {
      this.#connections -= 1;
    });
    void this.ended.then(() => {
      if (this.#handed !== undefined) onReturned(this.#handed);
    });
    channel.notify('start', number, start);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What it said of itself when it had started. */
  get report(): unknown {
    return this.#report;
  }

  /** Whether it has ever taken connections, also if it has ended since. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Whether it was told to end. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Whether it has started and was not told to end. */
  get isServing(): boolean {
    return this.#state === 'serving' && !this.#isLeaving;
  }

  /** How many connections it has. */
  get connections(): number {
    return this.#connections;
  }

  /** How many connections it was handed so far. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** Whether it can be handed a connection: it serves, and has taken the last one. */
  get isFree(): boolean {
    return this.isServing && this.#handed === undefined && this.#child.connected;
  }

  /** Hands over a connection. The worker must be free. */
  handOver(socket: Socket): void {
    this.#handed = socket;
    this.#connections += 1;
    this.#handedOver += 1;
    this.channel.notifyWith(socket, 'connection');
  }

  /** Lets the worker say that it is not ready, from its start if it has not started, and go on, also with new connections. */
  drain(): void {
    this.channel.notify('drain');
  }

  /** Lets the worker go on with its connections, but get no new ones, and end when it has none. */
  retire(): void {
    this.#leave('retire');
  }

  /** Lets the worker finish its calls within its grace time, and end. */
  stop(): void {
    this.#leave('stop');
  }

  /** Ends the process at once. It is not replaced. */
  discard(): void {
    this.#isLeaving = true;
    this.#child.kill('SIGKILL');
  }

  /** Sends the process a signal. */
  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  #leave(notice: 'retire' | 'stop'): void {
    this.#isLeaving = true;
    this.channel.notify(notice);
  }
}

/** Returns the end of a sentence such as "a worker ended with code 1". */
export function howEnded({ code, signal }: WorkerEnd): string {
  return signal === null ? `with code ${code}` : `by ${signal}`;
}
