import type { StealRequest } from '../walk/steal-request.ts';

const BETWEEN_PAUSES = 250;
/** So much is done in any case: sharing out less would cost more than doing it. */
const AT_LEAST = 1_000;

/** How much a worker does in one go before it hands back what is left: a rough guess in microseconds from what it meets. */
export class Budget {
  readonly #call: StealRequest;
  #left: number;
  #pause: number;
  /** From here on it is over when somebody calls for work. */
  readonly #callable: number;

  constructor(amount: number, call: StealRequest) {
    this.#call = call;
    this.#left = amount;
    this.#pause = amount - BETWEEN_PAUSES;
    this.#callable = amount - AT_LEAST;
  }

  get isSpent(): boolean {
    if (this.#left > 0 && this.#left <= this.#callable) this.#left = this.#call.tryClaim() ? 0 : this.#left;
    return this.#left <= 0;
  }

  spend(amount: number): void {
    this.#left -= amount;
  }

  /** Whether enough was done since the last time to let others have a turn. */
  shouldYield(): boolean {
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
