import { PikeVm, type ThreadState } from './pike-vm.ts';
import type { Program } from './program.ts';
import { leadOf, REPLACEMENT } from './utf8.ts';

/** Entries per row of the transition table, one per byte value. A state is the offset of its row. */
const ROW = 256;
/** Transition not computed yet. Its row leads only to itself, so a loop may check for it late. */
const UNKNOWN = 0;
/** The line matches. This state leads only to itself. */
export const MATCHED = ROW;
/** The line cannot match any more. Only LF leaves this state. */
export const DEAD = 2 * ROW;
/** The state at the start of a line. */
export const START = 3 * ROW;

const NO_THREADS: ThreadState = { threads: new Int32Array(0), undecided: false, afterWord: false, atStart: false };

const LF = 0x0a;
const LAST_ASCII = 0x7f;

/** Default limit on the memory for states, estimated. */
const MAX_MEMORY = 4 * 1024 * 1024;
const STATE_MEMORY = 4 * ROW + 200;
/** If fewer states than this fit, the DFA is not used. */
const FEWEST_STATES = 16;

/** A state within the bytes of a multi-byte character. */
interface Utf8State {
  /** The state before the character, from which U+FFFD is taken if its bytes turn out not to be UTF-8. */
  readonly base: number;
  /** The state after the character, if it is the same for all possible remaining bytes. */
  readonly target: number | undefined;
  /** Code point bits decoded so far. */
  readonly bits: number;
  readonly taken: number;
  readonly missing: number;
  /** Range of the next byte. */
  readonly low: number;
  readonly high: number;
}

/**
 * A DFA over the bytes of lines, built lazily by subset construction from a Pike VM as the input requires it:
 * https://swtch.com/~rsc/regexp/regexp1.html ("Caching the NFA to build a DFA") and
 * https://swtch.com/~rsc/regexp/regexp3.html.
 *
 * UTF-8 is decoded by states within characters; bytes that are not UTF-8 count as U+FFFD, as in a decoded string. Each
 * line is matched on its own: LF leads back to `START` unless the line matches at its end. The memory for states is
 * bounded; the caller flushes when `full`.
 */
export class LazyDfa {
  /** Transition table: the next state is `table[state | byte]`. Replaced by a larger array when states are added. */
  table = new Int32Array(16 * ROW);
  /** The highest state at which a scan loop stops: `DEAD`, or `MATCHED` while skipping dead lines does not pay off. */
  stopAt = DEAD;
  readonly #vm: PikeVm;
  #states: (ThreadState | Utf8State | undefined)[] = [];
  #ids = new Map<number, number[]>();
  #insides = new Map<string, number>();
  #memory = 0;
  readonly #maxMemory: number;

  constructor(program: Program, memory = MAX_MEMORY) {
    this.#maxMemory = memory;
    this.#vm = new PikeVm(program);
    this.#reset();
  }

  /** Whether at least 16 states of a program fit into the default memory limit. */
  static fits(program: Program): boolean {
    return FEWEST_STATES * (STATE_MEMORY + 4 * program.code.length) <= MAX_MEMORY;
  }

  /** Whether the memory limit is reached and `flush` is due. */
  get full(): boolean {
    return this.#memory >= this.#maxMemory;
  }

  /** Work of building states so far, see `PikeVm.work`. */
  get work(): number {
    return this.#vm.work;
  }

  get states(): number {
    return this.#states.length;
  }

  /**
   * Drops all states but this one. Returns its new number, and how many bytes to rewind if it was within a character.
   */
  flush(state: number): { state: number; back: number } {
    const kept = this.#states[state / ROW];
    if (kept === undefined) throw new Error(`no state ${state}`);
    const base = ('base' in kept ? this.#states[kept.base / ROW] : kept) as ThreadState;
    this.#reset();
    return { state: this.#between(base), back: 'base' in kept ? kept.taken : 0 };
  }

  /** Returns the state after a byte and computes it if it is not in the table yet. */
  next(state: number, byte: number): number {
    const known = this.table[state | byte] as number;
    return known === UNKNOWN ? this.#build(state, byte) : known;
  }

  /** Whether the line matches if it ends in this state. */
  matchesAtEnd(state: number): boolean {
    if (state === MATCHED) return true;
    const from = this.#states[state / ROW];
    if (from === undefined) throw new Error(`no state ${state}`);
    if ('base' in from) return this.matchesAtEnd(this.#step(from.base, REPLACEMENT).target);
    return this.#vm.matchesAtEnd(from);
  }

  #build(state: number, byte: number): number {
    const from = this.#states[state / ROW];
    if (from === undefined) throw new Error(`no state ${state}`);
    return 'base' in from ? this.#insideStep(state, from, byte) : this.#betweenStep(state, byte);
  }

  #betweenStep(state: number, byte: number): number {
    if (byte === LF) return this.#fill(state, LF, LF, this.matchesAtEnd(state) ? MATCHED : START);
    if (byte <= LAST_ASCII) {
      const { target, first, last } = this.#step(state, byte);
      const low = byte > LF ? Math.max(first, LF + 1) : first;
      const high = byte < LF ? Math.min(last, LF - 1) : Math.min(last, LAST_ASCII);
      return this.#fill(state, low, high, target);
    }
    const lead = leadOf(byte);
    if (lead !== undefined) {
      const inside = this.#inside({ base: state, taken: 1, ...lead });
      return this.#fill(state, byte, byte, inside);
    }
    return this.#fill(state, byte, byte, this.#step(state, REPLACEMENT).target);
  }

  #insideStep(state: number, from: Utf8State, byte: number): number {
    const { base, target, missing, low, high } = from;
    if (byte < low || byte > high) {
      const replaced = this.#step(base, REPLACEMENT).target;
      return this.#fill(state, byte, byte, this.next(replaced, byte));
    }
    if (missing === 1) {
      if (target !== undefined) return this.#fill(state, low, high, target);
      const rune = (from.bits << 6) | (byte & 0x3f);
      const step = this.#step(base, rune);
      const down = Math.min(rune - step.first, byte - low);
      const up = Math.min(step.last - rune, high - byte);
      return this.#fill(state, byte - down, byte + up, step.target);
    }
    const bits = (from.bits << 6) | (byte & 0x3f);
    const next = this.#inside({ base, bits, taken: from.taken + 1, missing: missing - 1, low: 0x80, high: 0xbf });
    return this.#fill(state, byte, byte, next);
  }

  #fill(state: number, first: number, last: number, target: number): number {
    this.table.fill(target, state + first, state + last + 1);
    return target;
  }

  /** Returns the state after a character, and the surrounding range of code points that lead to the same state. */
  #step(state: number, rune: number): { target: number; first: number; last: number } {
    const { to, first, last } = this.#vm.step(this.#states[state / ROW] as ThreadState, rune);
    return { target: to === undefined ? MATCHED : this.#between(to), first, last };
  }

  #between(state: ThreadState): number {
    return state.threads.length === 0 ? DEAD : this.#withThreads(state);
  }

  #withThreads(state: ThreadState): number {
    state.threads.sort();
    const hash = hashOf(state);
    const alike = this.#ids.get(hash);
    const known = alike?.find((id) => isSame(this.#states[id / ROW] as ThreadState, state));
    if (known !== undefined) return known;
    const id = this.#new(state);
    if (alike === undefined) this.#ids.set(hash, [id]);
    else alike.push(id);
    this.#memory += 4 * state.threads.length;
    return id;
  }

  /**
   * Returns the state within a character. If all characters with this prefix lead to the same state, the remaining bits
   * are not tracked.
   */
  #inside(state: Omit<Utf8State, 'target'>): number {
    const { base, taken, missing, low, high } = state;
    const shift = 6 * (missing - 1);
    const first = ((state.bits << 6) | (low & 0x3f)) << shift;
    const last = (((state.bits << 6) | (high & 0x3f)) << shift) | ((1 << shift) - 1);
    const step = this.#step(base, first);
    const target = step.last >= last ? step.target : undefined;
    const bits = target === undefined ? state.bits : 0;
    const key = `${base} ${target} ${bits} ${taken} ${missing} ${low} ${high}`;
    let id = this.#insides.get(key);
    if (id === undefined) {
      id = this.#new({ ...state, target });
      this.#insides.set(key, id);
    }
    return id;
  }

  #new(state: ThreadState | Utf8State): number {
    const id = this.#states.length * ROW;
    this.#states.push(state);
    this.#memory += STATE_MEMORY;
    if (id === this.table.length) {
      const larger = new Int32Array(2 * id);
      larger.set(this.table);
      this.table = larger;
    }
    return id;
  }

  #reset(): void {
    this.table.fill(UNKNOWN);
    this.table.fill(MATCHED, MATCHED, MATCHED + ROW);
    this.table.fill(DEAD, DEAD, DEAD + ROW);
    this.table[DEAD | LF] = START;
    this.#states = [undefined, undefined, NO_THREADS];
    this.#ids.clear();
    this.#insides.clear();
    this.#memory = 0;
    const start = this.#vm.start();
    if (start === undefined) this.table.fill(MATCHED, START, START + ROW);
    else this.#withThreads(start);
  }
}

function hashOf({ threads, afterWord, atStart }: ThreadState): number {
  let hash = (afterWord ? 1 : 0) + (atStart ? 2 : 0);
  for (const thread of threads) hash = Math.imul(hash ^ thread, 0x01000193) + 1;
  return hash;
}

function isSame(a: ThreadState, b: ThreadState): boolean {
  if (a.threads.length !== b.threads.length || a.afterWord !== b.afterWord || a.atStart !== b.atStart) return false;
  return a.threads.every((thread, i) => thread === b.threads[i]);
}
