const BETWEEN_PAUSES = 250;

/** How much a worker does in one go before it hands back what is left: a rough guess in microseconds from what it meets. */
export class Budget {
  #left: number;
  #pause: number;

  constructor(amount: number) {
    this.#left = amount;
    this.#pause = amount - BETWEEN_PAUSES;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  spend(amount: number): void {
    this.#left -= amount;
  }

  /** Whether enough was done since the last time to let others have a turn. */
  pauseIsDue(): boolean {
    if (this.#left > this.#pause) return false;
    this.#pause = this.#left - BETWEEN_PAUSES;
    return true;
  }
}

export const COST = {
  /** To open a folder and list it, and per entry. */
  folder: 15,
  entry: 1,
  /** To open a file, and per byte read and searched. */
  file: 6,
  byte: 0.001,
  /** To look at an entry that was found. */
  found: 3,
} as const;
