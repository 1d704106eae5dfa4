import { type LineMatcher, PAUSED, type StopSignal, WORK_PER_TURN } from './line-matcher.ts';
import { PikeVm, type ThreadState } from './pike-vm.ts';
import type { Program } from './program.ts';
import { runeAt } from './utf8.ts';

const LF = 0x0a;

/** A position in a range of whole lines, and the state of the program before it. */
interface PikeCursor {
  readonly bytes: Buffer;
  readonly to: number;
  readonly at: number;
  readonly state: ThreadState;
  /** The state at the start of a line. */
  readonly start: ThreadState;
}

/**
 * Finds matching lines with a Pike VM. It caches nothing: slower than the DFA, but the time per character is bounded by
 * the length of the program and the memory is constant.
 */
export class PikeMatcher implements LineMatcher {
  readonly #vm: PikeVm;
  readonly #stop: StopSignal;
  readonly #workPerTurn: number;
  /** Work at which it pauses. */
  #pauseAt: number;
  #paused: PikeCursor | undefined;

  constructor(program: Program, stop: StopSignal, workPerTurn = WORK_PER_TURN) {
    this.#vm = new PikeVm(program);
    this.#stop = stop;
    this.#workPerTurn = workPerTurn;
    this.#pauseAt = workPerTurn;
  }

  next(bytes: Buffer, from: number, to: number): number {
    if (this.#stop.raised) return -1;
    const start = this.#vm.start();
    return start === undefined ? from : this.#run({ bytes, to, at: from, state: start, start });
  }

  resume(): number {
    if (this.#paused === undefined) throw new Error('not paused');
    this.#pauseAt = this.#vm.work + this.#workPerTurn;
    return this.#run(this.#paused);
  }

  #run(cursor: PikeCursor): number {
    const vm = this.#vm;
    const { bytes, to, start } = cursor;
    let { at, state } = cursor;
    while (at < to) {
      if (vm.work > this.#pauseAt) {
        if (this.#stop.raised) return -1;
        this.#paused = { bytes, to, at, state, start };
        return PAUSED;
      }
      if (bytes[at] === LF) {
        if (vm.matchesAtEnd(state)) return at;
        state = start;
        at += 1;
        continue;
      }
      const rune = runeAt(bytes, at, to);
      const next = vm.step(state, rune >> 3).to;
      if (next === undefined) return at;
      state = next;
      at += rune & 7;
    }
    return bytes[to - 1] !== LF && vm.matchesAtEnd(state) ? to - 1 : -1;
  }
}
