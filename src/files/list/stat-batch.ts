import type { Dir, EntryType, Name } from '../../fence/index.ts';

/** The states of a step. */
const FREE = 0;
const TAKEN = 1;
const FILLED = 2;
const FAILED = 3;

/** The entry types by their number in shared memory; 0 means not statted, or missing. */
const TYPES: readonly (EntryType | undefined)[] = [undefined, 'file', 'directory', 'symlink', 'other'];
/** Separates names in a message; no name contains it. */
const NAME_SEPARATOR = '/';
const STATE_BYTES = 4;
/** Size and time as float64, and the type as one byte. */
const ENTRY_BYTES = 17;

/** The number of entries in a step, which are statted in less than a millisecond. */
export const STEP_ENTRIES = 128;

/** A batch in the form that is posted to another thread. */
export interface SharedStatBatch {
  /**
   * The names, joined: one long string is cloned faster than many short ones. A name that is not UTF-8 is empty, and
   * left to the caller.
   */
  readonly names: string;
  readonly count: number;
  readonly memory: SharedArrayBuffer;
}

/**
 * The stats of some entries of a folder, in shared memory. Two threads fill it in steps of `STEP_ENTRIES` entries; each
 * step belongs to the thread that claims it first, by an atomic compare-and-exchange.
 */
export class StatBatch {
  readonly shared: SharedStatBatch;
  readonly steps: number;
  readonly #states: Int32Array;
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  readonly #types: Uint8Array;

  /** Attaches to the memory of a batch that another thread created. */
  constructor(shared: SharedStatBatch) {
    const { count, memory } = shared;
    this.shared = shared;
    this.steps = Math.ceil(count / STEP_ENTRIES);
    const head = headBytes(this.steps);
    this.#states = new Int32Array(memory, 0, this.steps);
    this.#sizes = new Float64Array(memory, head, count);
    this.#times = new Float64Array(memory, head + 8 * count, count);
    this.#types = new Uint8Array(memory, head + 16 * count, count);
  }

  /** Allocates a batch for the entries with these names. */
  static of(names: readonly Name[]): StatBatch {
    const count = names.length;
    const memory = new SharedArrayBuffer(headBytes(Math.ceil(count / STEP_ENTRIES)) + ENTRY_BYTES * count);
    const texts = names.every(isText) ? names : names.map((name) => (isText(name) ? name : ''));
    return new StatBatch({ names: texts.join(NAME_SEPARATOR), count, memory });
  }

  /** Claims a step for this thread. Returns false if it is already claimed. */
  claim(step: number): boolean {
    return Atomics.compareExchange(this.#states, step, FREE, TAKEN) === FREE;
  }

  /** Claims all free steps. */
  claimRest(): void {
    for (let step = 0; step < this.steps; step += 1) this.claim(step);
  }

  /** Stats steps from the last towards the first, until one is already claimed. Raises what `Dir.statLite` raises. */
  fill(dir: Dir): void {
    const names = this.shared.names.split(NAME_SEPARATOR);
    for (let step = this.steps - 1; step >= 0 && this.claim(step); step -= 1) this.#fill(step, names, dir);
  }

  /**
   * Stats the entries of a claimed step and wakes its waiter. If one cannot be statted, the step is marked as failed.
   */
  #fill(step: number, names: readonly string[], dir: Dir): void {
    let outcome = FAILED;
    try {
      for (let at = step * STEP_ENTRIES; at < Math.min((step + 1) * STEP_ENTRIES, names.length); at += 1) {
        const name = names[at] as string;
        if (name !== '') this.stat(at, name, dir);
      }
      outcome = FILLED;
    } finally {
      Atomics.store(this.#states, step, outcome);
      Atomics.notify(this.#states, step);
    }
  }

  /** Stats an entry, stores the result and returns the type; undefined if the entry does not exist. */
  stat(at: number, name: Name, dir: Dir): EntryType | undefined {
    const found = dir.statLite(name);
    if (found === undefined) return undefined;
    this.#sizes[at] = found.size;
    this.#times[at] = found.mtimeMs;
    // Stored last and atomically: a thread that reads the type also sees the size and time.
    Atomics.store(this.#types, at, TYPES.indexOf(found.type));
    return found.type;
  }

  /** Resolves when the thread that claimed a step is done with it, or after a timeout. */
  async wait(step: number, milliseconds: number): Promise<void> {
    // A pending `waitAsync` does not keep the process alive; the timer does.
    const alive = setTimeout(() => {}, milliseconds);
    await waitAsync(this.#states, step, TAKEN, milliseconds).value;
    clearTimeout(alive);
  }

  /** Reports whether all entries of a step were statted. */
  isFilled(step: number): boolean {
    return Atomics.load(this.#states, step) === FILLED;
  }

  /** Reports whether an entry of a step could not be statted. */
  hasFailed(step: number): boolean {
    return Atomics.load(this.#states, step) === FAILED;
  }

  /**
   * Returns the type of an entry, or undefined if it was not statted or is missing; its size and time are then invalid.
   */
  type(at: number): EntryType | undefined {
    return TYPES[Atomics.load(this.#types, at)];
  }

  /** Returns the size of an entry in bytes. */
  size(at: number): number {
    return this.#sizes[at] as number;
  }

  /** Returns the modification time of an entry, in milliseconds. */
  mtimeMs(at: number): number {
    return this.#times[at] as number;
  }
}

const isText = (name: Name): name is string => typeof name === 'string';

/** Returns the size of the states, rounded up because the float64 arrays after them must be aligned to eight bytes. */
function headBytes(steps: number): number {
  return Math.ceil((steps * STATE_BYTES) / 8) * 8;
}

/** `Atomics.waitAsync` (ES2024), which the `lib` that this project compiles against does not declare. */
const { waitAsync } = Atomics as unknown as {
  waitAsync(
    array: Int32Array,
    index: number,
    value: number,
    timeout: number,
  ): { readonly value: Promise<string> | string };
};
