/** Each is over in a fraction of a millisecond, or gives way by itself. */
const PER_TURN = 16;

/**
 * Lets only so many requests begin in one turn of the event loop, in the order in which they came: hundreds that arrive at once
 * would otherwise be answered before anything else is heard of, such as a question for the server's health.
 */
export class Pace {
  readonly #waiting: (() => void)[] = [];
  #begun = 0;

  /** Undefined if one may begin at once. */
  turn(): Promise<void> | undefined {
    if (this.#begun === 0) setImmediate(this.#next);
    if (this.#begun < PER_TURN) {
      this.#begun += 1;
      return undefined;
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  readonly #next = (): void => {
    const now = this.#waiting.splice(0, PER_TURN);
    this.#begun = now.length;
    if (now.length > 0) setImmediate(this.#next);
    for (const begin of now) begin();
  };
}
