/** The part of a pool that is kept for clients which hold little: a quarter, divided equally. */
const KEPT = 1 / 4;
/** For how many clients a part is kept where their number is not known. */
const ASSUMED_CLIENTS = 4;

/** Options of a `FairPool`. */
export interface FairPoolOptions {
  /** How much there is, in whatever unit the users of the pool agree on. */
  readonly size: number;
  /** How many clients there are; undefined if anyone may come. */
  readonly clients?: number | undefined;
}

interface Waiter {
  readonly amount: number;
  resolve(): void;
}

/**
 * Shares something of which there is only so much among clients, named by strings. A part is kept for each client,
 * which nobody else can take; what is left goes to whoever comes first. So one client can use most of an idle server,
 * but not all of it.
 */
export class FairPool {
  readonly #size: number;
  readonly #kept: number;
  readonly #clients: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  #total = 0;
  /** How much of the parts that are kept for clients they have taken. */
  #taken = 0;

  constructor({ size, clients = ASSUMED_CLIENTS }: FairPoolOptions) {
    this.#size = size;
    this.#kept = Math.floor((size * KEPT) / clients);
    this.#clients = clients;
  }

  /** How much is taken. */
  get total(): number {
    return this.#total;
  }

  /** Takes an amount for a client if there is as much for it, and reports whether it did. */
  tryTake(client: string, amount = 1): boolean {
    const held = this.#held.get(client) ?? 0;
    const room = held + amount <= this.#kept ? this.#size : this.#size - this.#keptForOthers(held);
    if (this.#total + amount > room) return false;
    this.#add(client, amount);
    return true;
  }

  /**
   * Takes an amount for a client. Returns undefined if it did so at once, otherwise a promise that resolves when it
   * has. Clients that wait get their turns one after another, however much each of them waits for.
   */
  take(client: string, amount = 1): Promise<void> | undefined {
    if (!this.#waiting.has(client) && this.tryTake(client, amount)) return undefined;
    return new Promise((resolve) => {
      const queue = this.#waiting.get(client);
      if (queue === undefined) this.#waiting.set(client, [{ amount, resolve }]);
      else queue.push({ amount, resolve });
    });
  }

  /** Takes an amount for a client that is in use already, even if there is no more. */
  force(client: string, amount = 1): void {
    this.#add(client, amount);
  }

  /** Gives back what was taken. */
  give(client: string, amount = 1): void {
    this.#add(client, -amount);
    while (this.#waiting.size > 0 && this.#serveNext());
  }

  /** Returns how much of their parts other clients have not taken, for a client that holds so much. */
  #keptForOthers(held: number): number {
    const takenByOthers = this.#taken - Math.min(held, this.#kept);
    return Math.max(0, this.#kept * (this.#clients - 1) - takenByOthers);
  }

  #add(client: string, amount: number): void {
    this.#total += amount;
    const before = this.#held.get(client) ?? 0;
    const held = before + amount;
    this.#taken += Math.min(held, this.#kept) - Math.min(before, this.#kept);
    if (held === 0) this.#held.delete(client);
    else this.#held.set(client, held);
  }

  /**
   * Serves the first client for which there is enough, which is then the last in line. Reports whether there was one.
   */
  #serveNext(): boolean {
    for (const [client, queue] of this.#waiting) {
      const [first] = queue;
      if (first === undefined || !this.tryTake(client, first.amount)) continue;
      queue.shift();
      this.#waiting.delete(client);
      if (queue.length > 0) this.#waiting.set(client, queue);
      first.resolve();
      return true;
    }
    return false;
  }
}
