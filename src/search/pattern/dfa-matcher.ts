import { type DfaCursor, runDfa, runDfaPair } from './dfa-loop.ts';
import { DEAD, LazyDfa, MATCHED, START } from './lazy-dfa.ts';
import { lineEnd, lineStart } from './line-bounds.ts';
import type { LineMatcher, StopSignal } from './line-matcher.ts';
import type { Program } from './program.ts';

const LF = 0x0a;

/** Scanned after a match before two places are scanned at once, since the next match may be near. */
const NEAR = 1024;
const SMALLEST_BLOCK = 8 * 1024;
const LARGEST_BLOCK = 128 * 1024;

/** A state must have served so many bytes on average before all are forgotten, or building them does not pay. */
const BYTES_PER_STATE = 10;

/** To look for the end of a line takes as long as to scan so many bytes. */
const SKIP_BYTES = 200;
/** What may be lost by that before lines are scanned to their end, and how much of a text is scanned so. */
const MOST_LOST = 16 * SKIP_BYTES;
const WITHOUT_SKIPS = 256 * 1024;

export interface DfaMatcherOptions {
  readonly program: Program;
  /** Takes over where the automaton has too many states. */
  readonly fallback: LineMatcher;
  readonly stop: StopSignal;
  /** Bytes for states, roughly. */
  readonly memory?: number;
}

/** Finds matching lines by their bytes, in a time that grows with their number only. */
export class DfaMatcher implements LineMatcher {
  readonly #dfa: LazyDfa;
  readonly #fallback: LineMatcher;
  readonly #stop: StopSignal;
  #gaveUp = false;
  #flushed = false;
  /** Bytes scanned since all states were forgotten. */
  #scanned = 0;
  /** What was lost by skips, in bytes that could have been scanned; and how many bytes are left to scan without. */
  #lost = 0;
  #withoutSkips = 0;

  constructor({ program, fallback, stop, memory }: DfaMatcherOptions) {
    this.#dfa = new LazyDfa(program, memory);
    this.#fallback = fallback;
    this.#stop = stop;
  }

  next(bytes: Buffer, from: number, to: number): number {
    const found = this.#next(bytes, from, to);
    this.#withoutSkips -= (found === -1 ? to : found) - from;
    if (this.#withoutSkips <= 0) this.#dfa.stopAt = DEAD;
    return found;
  }

  #next(bytes: Buffer, from: number, to: number): number {
    let end = lineEnd(bytes, from + NEAR, to);
    let found = this.#scan(bytes, cursorAt(from, end));
    for (let size = SMALLEST_BLOCK; found === -1 && end < to; size = Math.min(2 * size, LARGEST_BLOCK)) {
      const start = end;
      end = lineEnd(bytes, start + size, to);
      const middle = lineEnd(bytes, start + (size >> 1), end);
      found =
        middle < end
          ? this.#scanBoth(bytes, cursorAt(start, middle), cursorAt(middle, end))
          : this.#scan(bytes, cursorAt(start, end));
    }
    return found;
  }

  /** The second lane begins where the first one ends. */
  #scanBoth(bytes: Buffer, one: DfaCursor, two: DfaCursor): number {
    const dfa = this.#dfa;
    while (one.at < one.to && two.at < two.to && !dfa.full && !this.#gaveUp && !this.#stop.raised) {
      const { at } = one;
      runDfaPair(one, two, bytes, dfa);
      this.#scanned += 2 * (one.at - at);
      if (one.at === one.to || two.at === two.to) break;
      one.state = dfa.next(one.state, bytes[one.at] as number);
      if (one.state === MATCHED) return one.at;
      one.at += 1;
      if (one.state === DEAD) this.#skipLine(bytes, one);
      two.state = dfa.next(two.state, bytes[two.at] as number);
      // Then all that counts is whether something matches before.
      if (two.state === MATCHED) return firstOf(this.#scan(bytes, one), two.at);
      two.at += 1;
      if (two.state === DEAD) this.#skipLine(bytes, two);
    }
    if (one.at === one.to) return this.#scan(bytes, two);
    if (two.at === two.to) {
      // Asked before the states of the first lane may be all that is kept.
      const last = this.#matchesAtEnd(bytes, two) ? two.to - 1 : -1;
      return firstOf(this.#scan(bytes, one), last);
    }
    return this.#scan(bytes, cursorAt(lineStart(bytes, one.from, one.at), two.to));
  }

  #scan(bytes: Buffer, lane: DfaCursor): number {
    const dfa = this.#dfa;
    let counted = lane.at;
    while (lane.at < lane.to) {
      if (this.#stop.raised) return -1;
      if (this.#gaveUp) return this.#fallback.next(bytes, lineStart(bytes, lane.from, lane.at), lane.to);
      runDfa(lane, bytes, dfa);
      this.#scanned += lane.at - counted;
      if (lane.at === lane.to) break;
      counted = lane.at;
      if (dfa.full) {
        this.#flush(lane);
        continue;
      }
      lane.state = dfa.next(lane.state, bytes[lane.at] as number);
      if (lane.state === MATCHED) return lane.at;
      lane.at += 1;
      if (lane.state === DEAD) this.#skipLine(bytes, lane);
    }
    return this.#matchesAtEnd(bytes, lane) ? lane.to - 1 : -1;
  }

  /** Goes on with the next line. */
  #skipLine(bytes: Buffer, lane: DfaCursor): void {
    const dfa = this.#dfa;
    if (dfa.stopAt !== DEAD) return;
    const end = lineEnd(bytes, lane.at, lane.to);
    this.#lost = Math.max(0, this.#lost + SKIP_BYTES - (end - lane.at));
    if (this.#lost > MOST_LOST) {
      this.#lost = 0;
      this.#withoutSkips = WITHOUT_SKIPS;
      dfa.stopAt = MATCHED;
    }
    lane.at = end;
    if (bytes[end - 1] === LF) lane.state = START;
  }

  /** The last line may have no LF. */
  #matchesAtEnd(bytes: Buffer, { to, state }: DfaCursor): boolean {
    return bytes[to - 1] !== LF && this.#dfa.matchesAtEnd(state);
  }

  #flush(lane: DfaCursor): void {
    if (this.#flushed && this.#scanned < BYTES_PER_STATE * this.#dfa.states) this.#gaveUp = true;
    this.#flushed = true;
    this.#scanned = 0;
    const { state, back } = this.#dfa.flush(lane.state);
    lane.state = state;
    lane.at -= back;
  }
}

/** From the beginning of a line to the end of one. */
function cursorAt(from: number, to: number): DfaCursor {
  return { from, to, at: from, state: START };
}

function firstOf(a: number, b: number): number {
  return a === -1 ? b : a;
}
