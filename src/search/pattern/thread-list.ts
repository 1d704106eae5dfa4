import { ASSERT, FAIL, JUMP, MATCH, type Program, RUNES, SPLIT } from './program.ts';

/** Instructions that the automaton may be at, all at the same place of the text. */
export class ThreadList {
  readonly #program: Program;
  /** In which round an instruction was met last. */
  readonly #met: Uint32Array;
  #round = 0;
  readonly #todo: Int32Array;
  readonly #threads: Int32Array;
  #size = 0;

  /** The end of the pattern is among them. */
  matched = false;
  /** Assertions that only the next character decides are among them. */
  undecided = false;

  constructor(program: Program) {
    this.#program = program;
    this.#met = new Uint32Array(program.code.length);
    this.#todo = new Int32Array(program.code.length);
    this.#threads = new Int32Array(program.code.length);
  }

  clear(): void {
    this.#round += 1;
    this.#size = 0;
    this.matched = false;
    this.undecided = false;
  }

  /** Adds an instruction and all that follows without a character. Assertions hold, are undecided, or else fail. */
  add(instruction: number, holds: number, undecided: number): void {
    const { code } = this.#program;
    const todo = this.#todo;
    let left = 0;
    if (this.#meet(instruction)) todo[left++] = instruction;
    while (left > 0) {
      const at = todo[--left] as number;
      const { op, next, other, asserts } = code[at] as (typeof code)[number];
      if (op === RUNES) {
        this.#threads[this.#size++] = at;
      } else if (op === SPLIT) {
        if (this.#meet(next)) todo[left++] = next;
        if (this.#meet(other)) todo[left++] = other;
      } else if (op === JUMP || (op === ASSERT && (asserts & holds) !== 0)) {
        if (this.#meet(next)) todo[left++] = next;
      } else if (op === ASSERT && (asserts & undecided) !== 0) {
        this.#threads[this.#size++] = at;
        this.undecided = true;
      } else if (op === MATCH) {
        this.matched = true;
      } else if (op !== ASSERT && op !== FAIL) {
        throw new Error(`unknown instruction ${op}`);
      }
    }
  }

  /** Those that wait for a character or for a decision. */
  get threads(): Int32Array {
    return this.#threads.subarray(0, this.#size);
  }

  #meet(instruction: number): boolean {
    if (this.#met[instruction] === this.#round) return false;
    this.#met[instruction] = this.#round;
    return true;
  }
}
