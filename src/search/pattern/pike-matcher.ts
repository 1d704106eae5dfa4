import type { LineMatcher, StopSignal } from './line-matcher.ts';
import { PikeVm } from './pike-vm.ts';
import type { Program } from './program.ts';
import { runeAt } from './utf8.ts';

const LF = 0x0a;

/** So many characters are tried before a look at whether to stop. */
const AT_ONCE = 256;

/** Finds matching lines with no memory of what it did before: slow, but the time for each character is limited. */
export class PikeMatcher implements LineMatcher {
  readonly #simulation: PikeVm;
  readonly #stop: StopSignal;

  constructor(program: Program, stop: StopSignal) {
    this.#simulation = new PikeVm(program);
    this.#stop = stop;
  }

  next(bytes: Buffer, from: number, to: number): number {
    const simulation = this.#simulation;
    const start = simulation.start();
    if (start === undefined) return from;
    let state = start;
    let tried = 0;
    for (let at = from; at < to; tried += 1) {
      if (tried % AT_ONCE === 0 && this.#stop.raised) return -1;
      if (bytes[at] === LF) {
        if (simulation.matchesAtEnd(state)) return at;
        state = start;
        at += 1;
        continue;
      }
      const rune = runeAt(bytes, at, to);
      const next = simulation.step(state, rune >> 3).to;
      if (next === undefined) return at;
      state = next;
      at += rune & 7;
    }
    return bytes[to - 1] !== LF && simulation.matchesAtEnd(state) ? to - 1 : -1;
  }
}
