/** How much a worker does in one go before it hands back what is left: a rough guess in microseconds from what it meets. */
export class Budget {
  #left: number;

  constructor(amount: number) {
    this.#left = amount;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  spend(amount: number): void {
    this.#left -= amount;
  }
}

export const COST = {
  /** To open a folder and list it, and per entry. */
  folder: 15,
  entry: 1,
  /** To open a file, and per byte read and searched. */
  file: 6,
  byte: 0.001,
} as const;
