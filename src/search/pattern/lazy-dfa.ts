import { PikeVm, type ThreadState } from './pike-vm.ts';
import type { Program } from './program.ts';
import { leadOf, REPLACEMENT } from './utf8.ts';

/** A state is the offset of its row in the table; a row has an entry for each byte. */
const ROW = 256;
/** Not built yet. Whatever follows is also unknown, so a loop may look late. */
const UNKNOWN = 0;
/** The line matches. This state is never left either. */
export const MATCHED = ROW;
/** Whatever follows, the line does not match. Only its end leads out of this state. */
export const DEAD = 2 * ROW;
/** At the start of a line. */
export const START = 3 * ROW;

const NO_THREADS: ThreadState = { threads: new Int32Array(0), undecided: false, afterWord: false, atStart: false };

const LF = 0x0a;
const LAST_ASCII = 0x7f;

/** Memory for states, counted roughly. */
const MAX_MEMORY = 4 * 1024 * 1024;
const STATE_MEMORY = 4 * ROW + 200;
/** So many at least must fit, or it is not worth the while. */
const FEWEST_STATES = 16;

/** Within the bytes of one character. */
interface Utf8State {
  /** The state before this character, which counts if the character turns out not to be one. */
  readonly base: number;
  /** The state after it, where that is known already, whatever bytes are still missing. */
  readonly target: number | undefined;
  /** Its bits so far. */
  readonly bits: number;
  readonly taken: number;
  readonly missing: number;
  /** What the next byte may be. */
  readonly low: number;
  readonly high: number;
}

/**
 * A deterministic automaton over the bytes of lines, built as far as texts ask for it. Characters are decoded on the
 * way: what is not UTF-8 counts as U+FFFD, just as in a decoded text. Every line is a text of its own; LF leads back to
 * the start unless the line matches at its end.
 */
export class LazyDfa {
  /** The next state is at `table[state | byte]`. Another array after something was built. */
  table = new Int32Array(16 * ROW);
  /** The last state at which a loop has to stop: `DEAD`, or `MATCHED` where lines are so short that it is no use. */
  stopAt = DEAD;
  readonly #simulation: PikeVm;
  #states: (ThreadState | Utf8State | undefined)[] = [];
  #ids = new Map<number, number[]>();
  #insides = new Map<string, number>();
  #memory = 0;
  readonly #maxMemory: number;

  constructor(program: Program, memory = MAX_MEMORY) {
    this.#maxMemory = memory;
    this.#simulation = new PikeVm(program);
    this.#reset();
  }

  /** Programs so large that hardly any state fits are better run otherwise. */
  static fits(program: Program): boolean {
    return FEWEST_STATES * (STATE_MEMORY + 4 * program.code.length) <= MAX_MEMORY;
  }

  /** It is time to forget all states but one. */
  get full(): boolean {
    return this.#memory >= this.#maxMemory;
  }

  get states(): number {
    return this.#states.length;
  }

  /** Forgets all states but this one. Returns what it is called now, and how many bytes to take back. */
  flush(state: number): { state: number; back: number } {
    const kept = this.#states[state / ROW];
    if (kept === undefined) throw new Error(`no state ${state}`);
    const base = ('base' in kept ? this.#states[kept.base / ROW] : kept) as ThreadState;
    this.#reset();
    return { state: this.#between(base), back: 'base' in kept ? kept.taken : 0 };
  }

  /** Where a byte leads; finds it out if it is not in the table yet. */
  next(state: number, byte: number): number {
    const known = this.table[state | byte] as number;
    return known === UNKNOWN ? this.#build(state, byte) : known;
  }

  /** Does the line match if it ends here? */
  matchesAtEnd(state: number): boolean {
    if (state === MATCHED) return true;
    const from = this.#states[state / ROW];
    if (from === undefined) throw new Error(`no state ${state}`);
    if ('base' in from) return this.matchesAtEnd(this.#step(from.base, REPLACEMENT).target);
    return this.#simulation.matchesAtEnd(from);
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

  /** Where a character leads from a state between characters, and the code points around it that lead there too. */
  #step(state: number, rune: number): { target: number; first: number; last: number } {
    const { to, first, last } = this.#simulation.step(this.#states[state / ROW] as ThreadState, rune);
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

  /** If all characters that begin so lead to the same state, their other bytes do not matter. */
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
    const start = this.#simulation.start();
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
