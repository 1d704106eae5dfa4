import { lineEnd, lineStart } from '../line-bounds.ts';
import type { LineMatcher } from '../line-matcher.ts';
import { LineDfa, MATCHED, START } from './line-dfa.ts';
import type { Program } from './program.ts';

const LF = 0x0a;

/** Scanned after a match before two places are scanned at once, since the next match may be near. */
const NEAR = 1024;
const SMALLEST_BLOCK = 8 * 1024;
const LARGEST_BLOCK = 128 * 1024;

/** A state must have served so many bytes on average before all are forgotten, or building them does not pay. */
const BYTES_PER_STATE = 10;

/** A part of a region, and the state that the automaton is in at its beginning. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly state: number;
  /** Where a line begins, at or before `from`. */
  readonly floor: number;
}

/** Finds matching lines by their bytes, in a time that grows with their number only. */
export class LineAutomaton implements LineMatcher {
  readonly #dfa: LineDfa;
  readonly #otherwise: LineMatcher;
  #gaveUp = false;
  #flushed = false;
  /** Bytes scanned since all states were forgotten. */
  #scanned = 0;

  /** `otherwise` takes over where the automaton has too many states. */
  constructor(program: Program, otherwise: LineMatcher) {
    this.#dfa = new LineDfa(program);
    this.#otherwise = otherwise;
  }

  next(bytes: Buffer, from: number, to: number): number {
    let end = lineEnd(bytes, from + NEAR, to);
    let found = this.#scan(bytes, { from, to: end, state: START, floor: from });
    for (let size = SMALLEST_BLOCK; found === -1 && end < to; size = Math.min(2 * size, LARGEST_BLOCK)) {
      const start = end;
      end = lineEnd(bytes, start + size, to);
      found = this.#scanHalves(bytes, start, end);
    }
    return found;
  }

  /** Scans both halves at the same time: half of the time of one is spent waiting for the table. */
  #scanHalves(bytes: Buffer, from: number, to: number): number {
    const dfa = this.#dfa;
    const middle = lineEnd(bytes, (from + to) >> 1, to);
    if (middle === to || this.#gaveUp) return this.#scan(bytes, { from, to, state: START, floor: from });
    let i = from;
    let j = middle;
    let one = START;
    let two = START;
    while (i < middle && j < to) {
      if (dfa.full) {
        const floor = lineStart(bytes, from, i);
        return this.#scan(bytes, { from: floor, to, state: START, floor });
      }
      const { table } = dfa;
      const count = Math.min(middle - i, to - j) - 3;
      let k = 0;
      for (; k < count; k += 4) {
        let a = table[one | (bytes[i + k] as number)] as number;
        let b = table[two | (bytes[j + k] as number)] as number;
        a = table[a | (bytes[i + k + 1] as number)] as number;
        b = table[b | (bytes[j + k + 1] as number)] as number;
        a = table[a | (bytes[i + k + 2] as number)] as number;
        b = table[b | (bytes[j + k + 2] as number)] as number;
        a = table[a | (bytes[i + k + 3] as number)] as number;
        b = table[b | (bytes[j + k + 3] as number)] as number;
        if (a <= MATCHED || b <= MATCHED) break;
        one = a;
        two = b;
      }
      i += k;
      j += k;
      this.#scanned += 2 * k;
      if (i === middle || j === to) break;
      one = dfa.next(one, bytes[i] as number);
      if (one === MATCHED) return i;
      two = dfa.next(two, bytes[j] as number);
      i += 1;
      if (two === MATCHED) return firstOf(this.#scan(bytes, { from: i, to: middle, state: one, floor: from }), j);
      j += 1;
    }
    if (j < to) return this.#scan(bytes, { from: j, to, state: two, floor: middle });
    // Asked before states may be forgotten.
    const last = this.#matchesAtEnd(bytes, to, two) ? to - 1 : -1;
    return firstOf(this.#scan(bytes, { from: i, to: middle, state: one, floor: from }), last);
  }

  #scan(bytes: Buffer, { from, to, state: initial, floor }: Stretch): number {
    if (this.#gaveUp) return this.#otherwise.next(bytes, lineStart(bytes, floor, from), to);
    const dfa = this.#dfa;
    let state = initial;
    let counted = from;
    for (let i = from; i < to; ) {
      const { table } = dfa;
      for (const last = to - 4; i <= last; i += 4) {
        let next = table[state | (bytes[i] as number)] as number;
        next = table[next | (bytes[i + 1] as number)] as number;
        next = table[next | (bytes[i + 2] as number)] as number;
        next = table[next | (bytes[i + 3] as number)] as number;
        if (next <= MATCHED) break;
        state = next;
      }
      if (i === to) break;
      if (dfa.full) {
        this.#scanned += i - counted;
        counted = i;
        if (!this.#mayFlush()) return this.#otherwise.next(bytes, lineStart(bytes, floor, i), to);
        const kept = dfa.flush(state);
        state = kept.state;
        i -= kept.back;
      }
      state = dfa.next(state, bytes[i] as number);
      if (state === MATCHED) return i;
      i += 1;
    }
    this.#scanned += to - counted;
    return this.#matchesAtEnd(bytes, to, state) ? to - 1 : -1;
  }

  /** The last line may have no LF. */
  #matchesAtEnd(bytes: Buffer, to: number, state: number): boolean {
    return bytes[to - 1] !== LF && this.#dfa.matchesAtEnd(state);
  }

  #mayFlush(): boolean {
    if (this.#flushed && this.#scanned < BYTES_PER_STATE * this.#dfa.states) this.#gaveUp = true;
    this.#flushed = true;
    this.#scanned = 0;
    return !this.#gaveUp;
  }
}

function firstOf(a: number, b: number): number {
  return a === -1 ? b : a;
}
