import { type RedisOptions, Valkey } from 'iovalkey';
import { atMost } from '../runtime/at-most.ts';
import { SCRIPTS } from './redis-scripts.ts';
import { type StoreProblem, StoreUnavailable } from './shared-store.ts';

/** How long a command may take, the wait for a connection included. */
const COMMAND_MS = 1_000;
/** How often a connection is probed, so that its loss is noticed while nobody uses it, and that it works again. */
const PROBE_MS = 2_000;
/** How long after its last refusal a full store counts as full: as entries expire, a command succeeds now and then. */
const FULL_MS = 5_000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 1_000;

const OPTIONS: RedisOptions = {
  scripts: SCRIPTS,
  commandTimeout: COMMAND_MS,
  connectTimeout: COMMAND_MS,
  // Closes a connection on which a reply is missing. Its commands fail, and those that follow do not wait behind them.
  socketTimeout: COMMAND_MS,
  // Commands that got no reply are not sent again: they may have taken effect.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableOfflineQueue: false,
  lazyConnect: true,
  retryStrategy: (times) => Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(times, 10)),
  // After a failover the old primary refuses writes; its name may lead to the new one by now.
  reconnectOnError: (error) => /^(READONLY|MASTERDOWN|LOADING)/.test(replyOf(error)),
};

type Command<T> = (redis: Valkey) => Promise<T>;

/** Options of a `RedisConnection`. */
export interface ConnectionOptions {
  readonly url: string;
  /**
   * What shows whether everything works. It should write if others do, because a Redis that is a replica since a
   * failover still answers reads, and use whatever its user may be refused for good.
   */
  readonly probe: Command<unknown>;
  /** Called once when a command fails. */
  lost(problem: StoreProblem): void;
  /** Called once when the probe succeeds again. */
  back(): void;
}

/**
 * A connection to Redis that is made again whenever it is lost. A command waits for it, but not longer than
 * `COMMAND_MS` after the loss: then it fails at once. Errors hold neither address nor password.
 */
export class RedisConnection {
  readonly #redis: Valkey;
  readonly #options: ConnectionOptions;
  readonly #probing: NodeJS.Timeout;
  readonly #waiting = new Set<() => void>();
  #prepare: Command<unknown> | undefined;
  #downSince: number | undefined = performance.now();
  #problem: StoreProblem | undefined;
  /** When Redis last refused a command because it was full. */
  #fullAt = Number.NEGATIVE_INFINITY;
  /** Whether the last attempt to connect failed because of the password. */
  #isRefused = false;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#redis = new Valkey(options.url, OPTIONS);
    this.#options = options;
    // Where the default user needs no password, the library goes on after it was refused for another user.
    let isRefusedNow = false;
    this.#redis.on('connect', () => {
      isRefusedNow = false;
    });
    this.#redis.on('ready', () => isRefusedNow || this.#isReady());
    this.#redis.on('close', () => {
      this.#downSince ??= performance.now();
    });
    // The sender of a command learns that it failed. Without a listener, the library writes to stderr.
    this.#redis.on('error', (error) => {
      this.#isRefused = problemOf(error) === 'wrong_password';
      isRefusedNow = this.#isRefused;
    });
    this.#redis.connect().catch(() => {});
    this.#probing = setInterval(() => this.#probe(), PROBE_MS).unref();
  }

  /** Why a command failed; undefined if none has since the last probe that succeeded. */
  get problem(): StoreProblem | undefined {
    return this.#problem;
  }

  /** Called for each message of a channel that this connection is subscribed to. */
  onMessage(listener: (channel: string, message: string) => void): void {
    this.#redis.on('message', listener);
  }

  /** Sets what is done first whenever the connection has been made. */
  onReady(prepare: Command<unknown>): void {
    this.#prepare = prepare;
  }

  /**
   * Sends a command. Raises `StoreUnavailable` if it fails, or takes too long together with the wait for a connection.
   */
  async run<T>(command: Command<T>): Promise<T> {
    try {
      if (this.#isUsable) return await command(this.#redis);
      const deadline = performance.now() + COMMAND_MS;
      await this.#ready();
      const late = (): never => {
        throw new StoreUnavailable('timed_out');
      };
      return await atMost(deadline - performance.now(), command(this.#redis), late);
    } catch (error) {
      const failure = error instanceof StoreUnavailable ? error : new StoreUnavailable(problemOf(error));
      this.#failed(failure.details.problem);
      throw failure;
    }
  }

  get #isUsable(): boolean {
    return this.#redis.status === 'ready' && this.#downSince === undefined;
  }

  /** Ends the connection. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#probing);
    this.#redis.disconnect();
    for (const wake of this.#waiting) wake();
  }

  /** Waits until commands can be sent. Raises `StoreUnavailable` once the connection has been lost for too long. */
  async #ready(): Promise<void> {
    const left = (this.#downSince ?? performance.now()) + COMMAND_MS - performance.now();
    if (left > 0 && this.#redis.status !== 'end') {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.#waiting.add(wake);
      });
    }
    if (!this.#isUsable) throw new StoreUnavailable(this.#isRefused ? 'wrong_password' : 'unreachable');
  }

  #isReady(): void {
    this.#downSince = undefined;
    for (const wake of this.#waiting) wake();
    if (this.#prepare !== undefined) this.run(this.#prepare).catch(() => {});
    this.#probe();
  }

  #probe(): void {
    const { probe, back } = this.#options;
    this.run(probe).then(
      () => {
        if (this.#problem === undefined || performance.now() - this.#fullAt < FULL_MS) return;
        this.#problem = undefined;
        back();
      },
      () => {},
    );
  }

  #failed(problem: StoreProblem): void {
    // `close` fails the commands in flight; that says nothing about Redis.
    if (this.#isClosed) return;
    const known = this.#problem;
    this.#problem = problem;
    if (problem === 'full') this.#fullAt = performance.now();
    if (known === undefined) this.#options.lost(problem);
  }
}

/** Names a failure. The error itself is dropped: it may hold the arguments of a command, such as the password. */
function problemOf(error: unknown): StoreProblem {
  const message = error instanceof Error ? replyOf(error) : '';
  if (message.startsWith('OOM')) return 'full';
  if (message.startsWith('READONLY')) return 'read_only';
  if (/^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password)/.test(message)) return 'wrong_password';
  if (message.startsWith('Command timed out')) return 'timed_out';
  return error instanceof Error && error.name === 'ReplyError' ? 'failed' : 'unreachable';
}

/** Returns the error that Redis replied with, without the name and line of the script that Redis 6.2 puts before it. */
function replyOf({ message }: Error): string {
  return message.replace(/^ERR Error running script \(.*?\): .*?: -/, '');
}
