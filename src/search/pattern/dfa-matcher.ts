import { type DfaCursor, runDfa, runDfaPair } from './dfa-loop.ts';
import { DEAD, LazyDfa, MATCHED, START } from './lazy-dfa.ts';
import { type LineMatcher, lineStart, nextLineStart, PAUSED, type StopSignal, WORK_PER_TURN } from './line-matcher.ts';
import type { Program } from './program.ts';

const LF = 0x0a;

/** Number of bytes scanned with one cursor after a match before two are used, since the next match may be near. */
const NEAR = 1024;
/** Number of bytes of the first block that is scanned with two cursors. Each block without a match doubles the next. */
const SMALLEST_BLOCK = 8 * 1024;
/** Maximum number of bytes of a block. */
const LARGEST_BLOCK = 128 * 1024;

/**
 * If a flushed cache served fewer bytes per state than this, building states costs more than the Pike VM. RE2 uses the
 * same ratio.
 */
const BYTES_PER_STATE = 10;

/** Cost of searching for the end of a line, in bytes that the DFA scans in the same time. */
const SKIP_BYTES = 200;
/** Loss, in bytes, after which dead lines are scanned to their end instead of being skipped. */
const MAX_LOST = 16 * SKIP_BYTES;
/** Number of bytes for which dead lines are then not skipped. */
const WITHOUT_SKIPS = 256 * 1024;

/** Options of a `DfaMatcher`. */
export interface DfaMatcherOptions {
  readonly program: Program;
  /** Takes over when the DFA has too many states. */
  readonly fallback: LineMatcher;
  readonly stop: StopSignal;
  /** Approximate limit on the memory for states, in bytes. */
  readonly memory?: number;
  /** Work after which it pauses, by default `WORK_PER_TURN`. */
  readonly workPerTurn?: number;
}

/**
 * Finds matching lines with a lazy DFA, in time linear in the number of bytes. When states are built and flushed faster
 * than they pay off, it hands over to `fallback` for good.
 */
export class DfaMatcher implements LineMatcher {
  readonly #dfa: LazyDfa;
  readonly #fallback: LineMatcher;
  readonly #stop: StopSignal;
  readonly #workPerTurn: number;
  #gaveUp = false;
  #flushed = false;
  /** Bytes scanned since the last flush. */
  #scanned = 0;
  /** Loss by skipping dead lines, in bytes; and how many bytes are left to scan without skipping. */
  #lost = 0;
  #withoutSkips = 0;
  /** Work at which it pauses; and, while it is paused, where it is and whether the fallback continues there. */
  #pauseAt: number;
  #paused: { readonly bytes: Buffer; readonly cursor: DfaCursor; readonly inFallback: boolean } | undefined;
  /** End of the range of the last call of `next`. */
  #to = 0;

  constructor({ program, fallback, stop, memory, workPerTurn = WORK_PER_TURN }: DfaMatcherOptions) {
    this.#dfa = new LazyDfa(program, memory);
    this.#fallback = fallback;
    this.#stop = stop;
    this.#workPerTurn = workPerTurn;
    this.#pauseAt = workPerTurn;
  }

  next(bytes: Buffer, from: number, to: number): number {
    this.#to = to;
    const found = this.#next(bytes, from, to);
    if (found === PAUSED) return found;
    this.#withoutSkips -= (found === -1 ? to : found) - from;
    if (this.#withoutSkips <= 0) this.#dfa.stopAt = DEAD;
    return found;
  }

  resume(): number {
    if (this.#paused === undefined) throw new Error('not paused');
    const { bytes, cursor, inFallback } = this.#paused;
    this.#pauseAt = this.#dfa.work + this.#workPerTurn;
    const found = inFallback ? this.#fallback.resume() : this.#scan(bytes, cursor);
    return found === -1 && cursor.to < this.#to ? this.#next(bytes, cursor.to, this.#to) : found;
  }

  #next(bytes: Buffer, from: number, to: number): number {
    let end = nextLineStart(bytes, from + NEAR, to);
    let found = this.#scan(bytes, cursorAt(from, end));
    for (let size = SMALLEST_BLOCK; found === -1 && end < to; size = Math.min(2 * size, LARGEST_BLOCK)) {
      const start = end;
      end = nextLineStart(bytes, start + size, to);
      const middle = nextLineStart(bytes, start + (size >> 1), end);
      found =
        middle < end
          ? this.#scanBoth(bytes, cursorAt(start, middle), cursorAt(middle, end))
          : this.#scan(bytes, cursorAt(start, end));
    }
    return found;
  }

  /** Scans two adjacent ranges at once; `two` must start where `one` ends. */
  #scanBoth(bytes: Buffer, one: DfaCursor, two: DfaCursor): number {
    const dfa = this.#dfa;
    while (one.at < one.to && two.at < two.to && !dfa.full && !this.#gaveUp && !this.#isDue()) {
      const { at } = one;
      runDfaPair(one, two, bytes, dfa);
      this.#scanned += 2 * (one.at - at);
      if (one.at === one.to || two.at === two.to) break;
      one.state = dfa.next(one.state, bytes[one.at] as number);
      if (one.state === MATCHED) return one.at;
      one.at += 1;
      if (one.state === DEAD) this.#skipLine(bytes, one);
      two.state = dfa.next(two.state, bytes[two.at] as number);
      // Only a match in the first range can come earlier.
      if (two.state === MATCHED) return firstOf(this.#scan(bytes, one), two.at);
      two.at += 1;
      if (two.state === DEAD) this.#skipLine(bytes, two);
    }
    if (one.at === one.to) return this.#scan(bytes, two);
    if (two.at === two.to) {
      // Evaluated first, because scanning `one` may flush the state of `two`.
      const last = this.#matchesAtEnd(bytes, two) ? two.to - 1 : -1;
      return firstOf(this.#scan(bytes, one), last);
    }
    return this.#scan(bytes, cursorAt(lineStart(bytes, one.from, one.at), two.to));
  }

  #scan(bytes: Buffer, cursor: DfaCursor): number {
    const dfa = this.#dfa;
    let counted = cursor.at;
    while (cursor.at < cursor.to) {
      if (this.#gaveUp) return this.#fallBack(bytes, cursor);
      if (this.#isDue()) return this.#pause(bytes, cursor);
      runDfa(cursor, bytes, dfa);
      this.#scanned += cursor.at - counted;
      if (cursor.at === cursor.to) break;
      counted = cursor.at;
      if (dfa.full) {
        this.#flush(cursor);
        continue;
      }
      cursor.state = dfa.next(cursor.state, bytes[cursor.at] as number);
      if (cursor.state === MATCHED) return cursor.at;
      cursor.at += 1;
      if (cursor.state === DEAD) this.#skipLine(bytes, cursor);
    }
    return this.#matchesAtEnd(bytes, cursor) ? cursor.to - 1 : -1;
  }

  /** Whether it should pause, or stop. */
  #isDue(): boolean {
    return this.#dfa.work > this.#pauseAt || this.#stop.raised;
  }

  #pause(bytes: Buffer, cursor: DfaCursor): number {
    if (this.#stop.raised) return -1;
    this.#paused = { bytes, cursor, inFallback: false };
    return PAUSED;
  }

  #fallBack(bytes: Buffer, cursor: DfaCursor): number {
    const found = this.#fallback.next(bytes, lineStart(bytes, cursor.from, cursor.at), cursor.to);
    if (found === PAUSED) this.#paused = { bytes, cursor, inFallback: true };
    return found;
  }

  /** Skips the rest of a line that cannot match. */
  #skipLine(bytes: Buffer, cursor: DfaCursor): void {
    const dfa = this.#dfa;
    if (dfa.stopAt !== DEAD) return;
    const end = nextLineStart(bytes, cursor.at, cursor.to);
    this.#lost = Math.max(0, this.#lost + SKIP_BYTES - (end - cursor.at));
    if (this.#lost > MAX_LOST) {
      this.#lost = 0;
      this.#withoutSkips = WITHOUT_SKIPS;
      dfa.stopAt = MATCHED;
    }
    cursor.at = end;
    if (bytes[end - 1] === LF) cursor.state = START;
  }

  /** Whether the last line, if it has no LF, matches at its end. */
  #matchesAtEnd(bytes: Buffer, { to, state }: DfaCursor): boolean {
    return bytes[to - 1] !== LF && this.#dfa.matchesAtEnd(state);
  }

  #flush(cursor: DfaCursor): void {
    if (this.#flushed && this.#scanned < BYTES_PER_STATE * this.#dfa.states) this.#gaveUp = true;
    this.#flushed = true;
    this.#scanned = 0;
    const { state, back } = this.#dfa.flush(cursor.state);
    cursor.state = state;
    cursor.at -= back;
  }
}

/** Returns a cursor at the start of a range of whole lines. */
function cursorAt(from: number, to: number): DfaCursor {
  return { from, to, at: from, state: START };
}

function firstOf(a: number, b: number): number {
  return a === -1 ? b : a;
}
