import type { Call } from '../model/api-types.ts';

/** How many calls are kept by default: some 20 MB. */
const MAX_CALLS = 100_000;

/** The last calls, in a ring: the oldest is overwritten. Their ids count from 1 without gaps. */
export class CallRing {
  readonly #calls: Call[] = [];
  readonly #size: number;
  #newest = 0;

  constructor(size = MAX_CALLS) {
    this.#size = size;
  }

  /** The id of the newest call; 0 if there is none. */
  get newest(): number {
    return this.#newest;
  }

  /** The id of the oldest call that is kept. */
  get oldest(): number {
    return Math.max(1, this.#newest - this.#size + 1);
  }

  /** Adds a call, which gets the next id. */
  add(call: Omit<Call, 'id'>): void {
    this.#newest += 1;
    this.#calls[this.#newest % this.#size] = { id: this.#newest, ...call };
  }

  /** Returns a call; undefined if it is not kept, or has not happened yet. */
  get(id: number): Call | undefined {
    return id < this.oldest || id > this.#newest ? undefined : this.#calls[id % this.#size];
  }

  /** Returns calls before an id that match, newest first, and whether there may be more. */
  before(id: number, limit: number, matches: (call: Call) => boolean): { calls: Call[]; more: boolean } {
    const calls: Call[] = [];
    let at = Math.min(id - 1, this.#newest);
    for (; at >= this.oldest && calls.length < limit; at -= 1) {
      const call = this.get(at);
      if (call !== undefined && matches(call)) calls.push(call);
    }
    return { calls, more: at >= this.oldest };
  }

  /** Returns calls after an id that match, oldest first, and the id up to which all were looked at. */
  after(id: number, limit: number, matches: (call: Call) => boolean): { calls: Call[]; seen: number } {
    const calls: Call[] = [];
    let seen = Math.max(id, this.oldest - 1);
    while (seen < this.#newest && calls.length < limit) {
      seen += 1;
      const call = this.get(seen);
      if (call !== undefined && matches(call)) calls.push(call);
    }
    return { calls, seen };
  }
}
