import type { Dir, EntryType } from '../fence/index.ts';

const FREE = 0;
const TAKEN = 1;
const FILLED = 2;
const FAILED = 3;
const GIVEN_UP = 4;

/** What stands for each type in shared memory; nothing is there of an entry that is gone. */
const TYPES: readonly (EntryType | undefined)[] = [undefined, 'file', 'directory', 'symlink', 'other'];
const HEAD_BYTES = 8;
const ENTRY_BYTES = 17;

/** What is sent of a part to another thread. */
export interface SharedPart {
  readonly names: readonly string[];
  readonly memory: SharedArrayBuffer;
}

type Look = Exclude<ReturnType<Dir['brief']>, undefined>;

/** What a listing shows of some entries of a folder, in memory that threads share. Whoever takes it first fills it in. */
export class LookPart {
  readonly shared: SharedPart;
  readonly #state: Int32Array;
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  readonly #types: Uint8Array;

  constructor(shared: SharedPart) {
    const { names, memory } = shared;
    const { length } = names;
    this.shared = shared;
    this.#state = new Int32Array(memory, 0, 1);
    this.#sizes = new Float64Array(memory, HEAD_BYTES, length);
    this.#times = new Float64Array(memory, HEAD_BYTES + 8 * length, length);
    this.#types = new Uint8Array(memory, HEAD_BYTES + 16 * length, length);
  }

  static of(names: readonly string[]): LookPart {
    return new LookPart({ names, memory: new SharedArrayBuffer(HEAD_BYTES + ENTRY_BYTES * names.length) });
  }

  /** False if somebody else has it, and nothing is to be done about it. */
  take(): boolean {
    return Atomics.compareExchange(this.#state, 0, FREE, TAKEN) === FREE;
  }

  /** Takes it from one who failed, or who is gone. */
  takeOver(): void {
    Atomics.store(this.#state, 0, TAKEN);
  }

  /** Nobody needs it any more: who fills it in stops soon. */
  giveUp(): void {
    Atomics.store(this.#state, 0, GIVEN_UP);
  }

  /** For whoever took it. Raises why an entry cannot be looked at; then another thread has to find out for itself. */
  fill(dir: Dir): void {
    const { names } = this.shared;
    let end = FAILED;
    try {
      for (let at = 0; at < names.length && Atomics.load(this.#state, 0) === TAKEN; at += 1) {
        const found = dir.brief(names[at] as string);
        this.#types[at] = TYPES.indexOf(found?.type);
        this.#sizes[at] = found?.size ?? 0;
        this.#times[at] = found?.mtimeMs ?? 0;
      }
      end = FILLED;
    } finally {
      Atomics.compareExchange(this.#state, 0, TAKEN, end);
      Atomics.notify(this.#state, 0);
    }
  }

  /** Resolves when whoever took it is done with it, or after so long. */
  async wait(milliseconds: number): Promise<void> {
    // A wait like this does not keep the process from ending, though somebody needs what comes after it.
    const alive = setTimeout(() => {}, milliseconds);
    await waitAsync(this.#state, 0, TAKEN, milliseconds).value;
    clearTimeout(alive);
  }

  get isFilled(): boolean {
    return Atomics.load(this.#state, 0) === FILLED;
  }

  get hasFailed(): boolean {
    return Atomics.load(this.#state, 0) === FAILED;
  }

  /** Undefined for an entry that was gone. */
  at(index: number): Look | undefined {
    const type = TYPES[this.#types[index] as number];
    return type && { type, size: this.#sizes[index] as number, mtimeMs: this.#times[index] as number };
  }
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
