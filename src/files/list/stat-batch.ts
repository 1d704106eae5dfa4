import type { Dir, EntryType, Name } from '../../fence/index.ts';

const FREE = 0;
const TAKEN = 1;
const FILLED = 2;
const FAILED = 3;

/** What stands for each type in shared memory; nothing is there of an entry that nobody has seen. */
const TYPES: readonly (EntryType | undefined)[] = [undefined, 'file', 'directory', 'symlink', 'other'];
/** No name has one in it. */
const BETWEEN = '/';
const STATE_BYTES = 4;
const ENTRY_BYTES = 17;

/** So many entries are looked at in less than a millisecond. */
export const STEP_ENTRIES = 128;

/** What is sent of it to another thread. */
export interface SharedStatBatch {
  /** One long text gets there sooner than many short ones. Empty for a name that is no text. */
  readonly names: string;
  readonly count: number;
  readonly memory: SharedArrayBuffer;
}

/**
 * What a listing shows of some entries of a folder, in memory that threads can share, `STEP` entries after `STEP` entries.
 * Whoever takes a step first is the one to look at its entries.
 */
export class StatBatch {
  readonly shared: SharedStatBatch;
  readonly steps: number;
  readonly #states: Int32Array;
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  readonly #types: Uint8Array;

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

  static of(names: readonly Name[]): StatBatch {
    const count = names.length;
    const memory = new SharedArrayBuffer(headBytes(Math.ceil(count / STEP_ENTRIES)) + ENTRY_BYTES * count);
    const texts = names.every(isText) ? names : names.map((name) => (isText(name) ? name : ''));
    return new StatBatch({ names: texts.join(BETWEEN), count, memory });
  }

  /** False if somebody else has it. */
  claim(step: number): boolean {
    return Atomics.compareExchange(this.#states, step, FREE, TAKEN) === FREE;
  }

  /** Takes all that nobody has. */
  claimRest(): void {
    for (let step = 0; step < this.steps; step += 1) this.claim(step);
  }

  /** Looks at entries from the last on, as far as nobody else has come from the first on. */
  fill(dir: Dir): void {
    const names = this.shared.names.split(BETWEEN);
    for (let step = this.steps - 1; step >= 0 && this.claim(step); step -= 1) this.#fill(step, names, dir);
  }

  /** Raises why an entry cannot be looked at; then another thread has to find out for itself. */
  #fill(step: number, names: readonly string[], dir: Dir): void {
    let end = FAILED;
    try {
      for (let at = step * STEP_ENTRIES; at < Math.min((step + 1) * STEP_ENTRIES, names.length); at += 1) {
        const name = names[at] as string;
        if (name !== '') this.stat(at, name, dir);
      }
      end = FILLED;
    } finally {
      Atomics.store(this.#states, step, end);
      Atomics.notify(this.#states, step);
    }
  }

  /** Undefined if it is not there. */
  stat(at: number, name: Name, dir: Dir): EntryType | undefined {
    const found = dir.statLite(name);
    if (found === undefined) return undefined;
    this.#sizes[at] = found.size;
    this.#times[at] = found.mtimeMs;
    // Whoever sees this one sees the others.
    Atomics.store(this.#types, at, TYPES.indexOf(found.type));
    return found.type;
  }

  /** Resolves when whoever took it is done with it, or after so long. */
  async wait(step: number, milliseconds: number): Promise<void> {
    // A wait like this does not keep the process from ending, though somebody needs what comes after it.
    const alive = setTimeout(() => {}, milliseconds);
    await waitAsync(this.#states, step, TAKEN, milliseconds).value;
    clearTimeout(alive);
  }

  isFilled(step: number): boolean {
    return Atomics.load(this.#states, step) === FILLED;
  }

  hasFailed(step: number): boolean {
    return Atomics.load(this.#states, step) === FAILED;
  }

  /** Undefined for an entry that nobody has seen; then the rest says nothing either. */
  type(at: number): EntryType | undefined {
    return TYPES[Atomics.load(this.#types, at)];
  }

  size(at: number): number {
    return this.#sizes[at] as number;
  }

  mtimeMs(at: number): number {
    return this.#times[at] as number;
  }
}

const isText = (name: Name): name is string => typeof name === 'string';

/** What comes before the numbers, which have to begin at a multiple of eight. */
function headBytes(steps: number): number {
  return Math.ceil((steps * STATE_BYTES) / 8) * 8;
}

/** Not among the types of this version of the language. */
const { waitAsync } = Atomics as unknown as {
  waitAsync(
    array: Int32Array,
    index: number,
    value: number,
    timeout: number,
  ): { readonly value: Promise<string> | string };
};
