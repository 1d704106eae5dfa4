/** Total weight of the searches of one share that run at once. More of them only take memory. */
const CAPACITY = 8;

/** A search that runs, or waits until it may. Dispose of it when the search has ended. */
export interface Slot extends Disposable {
  /** Resolves when the search may run; undefined if it may run at once. */
  readonly ready: Promise<void> | undefined;
}

interface Share {
  /** Weight of the searches that run. */
  running: number;
  /** Those that wait, first come first served. */
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly weight: number;
  admit(): void;
}

/**
 * Limits how many searches of each share run at once, by weight; the others wait. A search that is heavier than the
 * limit runs alone.
 */
export class ShareLimit {
  readonly #shares = new Map<string, Share>();

  /** How many searches wait. */
  get waiting(): number {
    let waiting = 0;
    for (const share of this.#shares.values()) waiting += share.waiting.length;
    return waiting;
  }

  /** Takes a place for a search. */
  enter(name: string, weight: number): Slot {
    const share = this.#shares.get(name) ?? { running: 0, waiting: [] };
    this.#shares.set(name, share);
    if (share.waiting.length === 0 && fits(share, weight)) {
      share.running += weight;
      return { ready: undefined, [Symbol.dispose]: () => this.#leave(name, weight) };
    }
    let waiting: Waiting | undefined;
    const ready = new Promise<void>((resolve) => {
      waiting = { weight, admit: resolve };
      share.waiting.push(waiting);
    });
    const leave = (): void => {
      const at = waiting === undefined ? -1 : share.waiting.indexOf(waiting);
      if (at === -1) this.#leave(name, weight);
      else share.waiting.splice(at, 1);
    };
    return { ready, [Symbol.dispose]: leave };
  }

  #leave(name: string, weight: number): void {
    const share = this.#shares.get(name);
    if (share === undefined) return;
    share.running -= weight;
    for (let next = share.waiting[0]; next !== undefined && fits(share, next.weight); next = share.waiting[0]) {
      share.waiting.shift();
      share.running += next.weight;
      next.admit();
    }
    if (share.running === 0 && share.waiting.length === 0) this.#shares.delete(name);
  }
}

function fits({ running }: Share, weight: number): boolean {
  return running === 0 || running + weight <= CAPACITY;
}
