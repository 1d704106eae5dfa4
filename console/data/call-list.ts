import type { Call } from './api-types.ts';

/** As many calls as the server keeps. */
export const MAX_CALLS = 100_000;

/**
 * Calls, newest first, that grow at both ends in constant time: newer ones arrive while older ones are still being fetched.
 * Holds at most `MAX_CALLS`; the oldest go.
 */
export class CallList {
  #newer: Call[] = [];
  readonly #older: Call[] = [];

  get length(): number {
    return this.#newer.length + this.#older.length;
  }

  /** The call at an index, 0 being the newest. */
  at(index: number): Call | undefined {
    const newer = this.#newer.length;
    return index < newer ? this.#newer[newer - 1 - index] : this.#older[index - newer];
  }

  addNewer(call: Call): void {
    this.#newer.push(call);
    if (this.length <= MAX_CALLS) return;
    if (this.#older.length > 0) this.#older.pop();
    // Dropped in blocks: to shift an array of this size by one is slow.
    else if (this.#newer.length > MAX_CALLS + 1000) this.#newer = this.#newer.slice(-MAX_CALLS);
  }

  addOlder(call: Call): void {
    if (this.length < MAX_CALLS) this.#older.push(call);
  }
}
