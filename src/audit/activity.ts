import type { Client } from '../tools/client.ts';

/** The activity counters of one client. */
export interface ClientFigures {
  readonly client: string;
  readonly calls: number;
  readonly errors: number;
  readonly violations: number;
  /** The number of different paths that were denied, counted up to 100. */
  readonly deniedPaths: number;
  /** The largest number of calls in one 10-second window. */
  readonly peakCalls: number;
}

/** A pattern that an operator should look at: `count` occurrences in `seconds`. */
export interface UnusualActivity {
  readonly client: string;
  readonly pattern: 'call_rate' | 'repeated_violations' | 'many_denied_paths';
  readonly count: number;
  readonly seconds: number;
}

/** The options of an `Activity`. */
export interface ActivityOptions {
  /** Called for each pattern at most once a minute per client. */
  readonly unusual: (what: UnusualActivity) => void;
  readonly now?: (() => number) | undefined;
  /** How many clients are remembered; 1,000 by default. */
  readonly maxClients?: number | undefined;
}

const MAX_CLIENTS = 1_000;
const MAX_DENIED_PATHS = 100;
/** Paths are truncated to this length to bound memory, so longer ones with the same start count as one. */
const MAX_PATH = 200;
const RATE_WINDOW_MS = 10_000;
const VIOLATION_WINDOW_MS = 60_000;
const QUIET_MS = 60_000;
/** 200 calls a second for ten seconds, which is more than a busy agent makes. */
const MANY_CALLS = 2_000;
const MANY_VIOLATIONS = 20;
const MANY_PATHS = 10;

/**
 * Counts calls and violations per client, and reports unusual patterns. Remembers a bounded number of clients and
 * forgets the one that was inactive for longest. All anonymous clients count as one.
 */
export class Activity {
  readonly #clients = new Map<string, Counters>();
  readonly #unusual: ActivityOptions['unusual'];
  readonly #now: () => number;
  readonly #maxClients: number;
  #violations = 0;

  constructor({ unusual, now = Date.now, maxClients = MAX_CLIENTS }: ActivityOptions) {
    this.#unusual = unusual;
    this.#now = now;
    this.#maxClients = maxClients;
  }

  /** How many attempts of all clients were denied. */
  get violations(): number {
    return this.#violations;
  }

  /** Counts a finished call. */
  call(client: Client, failed: boolean): void {
    const now = this.#now();
    const counters = this.#of(client, now);
    counters.calls += 1;
    if (failed) counters.errors += 1;
    if (counters.rate.count(now) > MANY_CALLS) this.#report(counters, 'call_rate', counters.rate);
  }

  /** Counts a denied attempt. Returns how many the client made before. */
  violation(client: Client, path = ''): number {
    const now = this.#now();
    const counters = this.#of(client, now);
    const previous = counters.violations;
    counters.violations += 1;
    this.#violations += 1;
    const denied = path.slice(0, MAX_PATH);
    if (!counters.denied.has(denied) && counters.denied.size < MAX_DENIED_PATHS) {
      counters.denied.add(denied);
      if (counters.newPaths.count(now) >= MANY_PATHS) this.#report(counters, 'many_denied_paths', counters.newPaths);
    }
    if (counters.tries.count(now) >= MANY_VIOLATIONS) this.#report(counters, 'repeated_violations', counters.tries);
    return previous;
  }

  /** Returns the counters of all remembered clients. */
  figures(): ClientFigures[] {
    return [...this.#clients.values()].map(toFigures);
  }

  /** Returns the counters of the clients that were active since the last call of this method. */
  takeChangedFigures(): ClientFigures[] {
    const active = [...this.#clients.values()].filter(
      ({ calls, violations, reported }) => calls + violations > reported,
    );
    for (const counters of active) counters.reported = counters.calls + counters.violations;
    return active.map(toFigures);
  }

  #of(client: Client, now: number): Counters {
    // An anonymous client has a new key with every call, so a counter for each would never exceed one.
    const key = client.kind === 'anonymous' ? 'anonymous' : client.key;
    let counters = this.#clients.get(key);
    if (counters === undefined) {
      if (this.#clients.size >= this.#maxClients) this.#forgetOne();
      counters = new Counters(client.name ?? client.kind);
      this.#clients.set(key, counters);
    }
    counters.lastSeen = now;
    return counters;
  }

  #forgetOne(): void {
    let oldest: [string, number] | undefined;
    for (const [key, { lastSeen }] of this.#clients) {
      if (oldest === undefined || lastSeen < oldest[1]) oldest = [key, lastSeen];
    }
    if (oldest !== undefined) this.#clients.delete(oldest[0]);
  }

  #report(
    { name, lastReports }: Counters,
    pattern: UnusualActivity['pattern'],
    { seen, seconds }: FixedWindowCounter,
  ): void {
    const now = this.#now();
    if (now - (lastReports.get(pattern) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    lastReports.set(pattern, now);
    this.#unusual({ client: name, pattern, count: seen, seconds });
  }
}

class Counters {
  readonly name: string;
  calls = 0;
  errors = 0;
  violations = 0;
  lastSeen = 0;
  /** The calls and violations that `takeChangedFigures` has returned. */
  reported = 0;
  readonly denied = new Set<string>();
  readonly rate = new FixedWindowCounter(RATE_WINDOW_MS);
  readonly tries = new FixedWindowCounter(VIOLATION_WINDOW_MS);
  readonly newPaths = new FixedWindowCounter(VIOLATION_WINDOW_MS);
  /** When each pattern was last reported. */
  readonly lastReports = new Map<UnusualActivity['pattern'], number>();

  constructor(name: string) {
    this.name = name;
  }
}

/** A fixed window counter. A window starts with the first event after the previous window has ended. */
class FixedWindowCounter {
  readonly #milliseconds: number;
  #start = Number.NEGATIVE_INFINITY;
  seen = 0;
  peak = 0;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  get seconds(): number {
    return this.#milliseconds / 1000;
  }

  count(now: number): number {
    if (now - this.#start >= this.#milliseconds) {
      this.#start = now;
      this.seen = 0;
    }
    this.seen += 1;
    if (this.seen > this.peak) this.peak = this.seen;
    return this.seen;
  }
}

function toFigures({ name, calls, errors, violations, denied, rate }: Counters): ClientFigures {
  return { client: name, calls, errors, violations, deniedPaths: denied.size, peakCalls: rate.peak };
}
