import type { Client } from '../tools/client.ts';

/** What a client did so far. */
export interface ClientFigures {
  readonly client: string;
  readonly calls: number;
  readonly errors: number;
  readonly violations: number;
  /** How many different paths it was denied. At 100 the counting stops. */
  readonly deniedPaths: number;
  /** The most calls within 10 seconds. */
  readonly peakCalls: number;
}

/** Something that an operator should look at: so many times in so many seconds. */
export interface UnusualActivity {
  readonly client: string;
  readonly pattern: 'call_rate' | 'repeated_violations' | 'many_denied_paths';
  readonly count: number;
  readonly seconds: number;
}

export interface ActivityOptions {
  /** Told of each pattern at most once a minute for a client. */
  readonly unusual: (what: UnusualActivity) => void;
  readonly now?: (() => number) | undefined;
  readonly maxClients?: number | undefined;
}

const MAX_CLIENTS = 1_000;
const MAX_DENIED_PATHS = 100;
/** Longer paths that differ only at their end count as one. */
const MAX_PATH = 200;
const RATE_WINDOW_MS = 10_000;
const VIOLATION_WINDOW_MS = 60_000;
const QUIET_MS = 60_000;
/** More than a busy agent does: 200 calls a second, for ten seconds. */
const MANY_CALLS = 2_000;
const MANY_VIOLATIONS = 20;
const MANY_PATHS = 10;

/** Counts per client what it calls and what it tries, for a bounded number of clients, and notices what is unusual. */
export class Activity {
  readonly #clients = new Map<string, Counters>();
  readonly #unusual: ActivityOptions['unusual'];
  readonly #now: () => number;
  readonly #maxClients: number;

  constructor({ unusual, now = Date.now, maxClients = MAX_CLIENTS }: ActivityOptions) {
    this.#unusual = unusual;
    this.#now = now;
    this.#maxClients = maxClients;
  }

  call(client: Client, failed: boolean): void {
    const now = this.#now();
    const counters = this.#of(client, now);
    counters.calls += 1;
    if (failed) counters.errors += 1;
    if (counters.rate.count(now) > MANY_CALLS) this.#tell(counters, 'call_rate', counters.rate);
  }

  /** Notes that a client tried what it may not. Returns how often it had done so before. */
  violation(client: Client, path = ''): number {
    const now = this.#now();
    const counters = this.#of(client, now);
    const previous = counters.violations;
    counters.violations += 1;
    const denied = path.slice(0, MAX_PATH);
    if (!counters.denied.has(denied) && counters.denied.size < MAX_DENIED_PATHS) {
      counters.denied.add(denied);
      if (counters.newPaths.count(now) >= MANY_PATHS) this.#tell(counters, 'many_denied_paths', counters.newPaths);
    }
    if (counters.tries.count(now) >= MANY_VIOLATIONS) this.#tell(counters, 'repeated_violations', counters.tries);
    return previous;
  }

  figures(): ClientFigures[] {
    return [...this.#clients.values()].map(toFigures);
  }

  /** The figures of those who did something since this was last asked. */
  news(): ClientFigures[] {
    const active = [...this.#clients.values()].filter(
      ({ calls, violations, reported }) => calls + violations > reported,
    );
    for (const counters of active) counters.reported = counters.calls + counters.violations;
    return active.map(toFigures);
  }

  #of(client: Client, now: number): Counters {
    // Nothing tells anonymous clients apart, so a count for each would count nothing.
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

  #tell({ name, told }: Counters, pattern: UnusualActivity['pattern'], { seen, seconds }: CountWindow): void {
    const now = this.#now();
    if (now - (told.get(pattern) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    told.set(pattern, now);
    this.#unusual({ client: name, pattern, count: seen, seconds });
  }
}

class Counters {
  readonly name: string;
  calls = 0;
  errors = 0;
  violations = 0;
  lastSeen = 0;
  /** How many calls and violations the last report knew of. */
  reported = 0;
  readonly denied = new Set<string>();
  readonly rate = new CountWindow(RATE_WINDOW_MS);
  readonly tries = new CountWindow(VIOLATION_WINDOW_MS);
  readonly newPaths = new CountWindow(VIOLATION_WINDOW_MS);
  /** When each pattern was last told of. */
  readonly told = new Map<UnusualActivity['pattern'], number>();

  constructor(name: string) {
    this.name = name;
  }
}

/** Counts within a stretch of time that begins with the first event and then anew with the first after its end. */
class CountWindow {
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
