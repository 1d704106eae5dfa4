import { ASSERT, FAIL, JUMP, MATCH, type Program, RUNES, SPLIT } from './program.ts';

/**
 * The threads of a Pike VM at one position: a set of instructions, closed under transitions that take no character.
 * Called `addthread` and `ThreadList` in https://swtch.com/~rsc/regexp/regexp2.html.
 */
export class ThreadList {
  readonly #program: Program;
  /** For each instruction, the round in which it was last visited; a new round clears the set in constant time. */
  readonly #stamps: Uint32Array;
  #round = 0;
  readonly #todo: Int32Array;
  readonly #threads: Int32Array;
  #size = 0;

  /** Whether the set contains MATCH. */
  matched = false;
  /** Whether some threads wait at an assertion that the next character decides. */
  undecided = false;

  constructor(program: Program) {
    this.#program = program;
    this.#stamps = new Uint32Array(program.code.length);
    this.#todo = new Int32Array(program.code.length);
    this.#threads = new Int32Array(program.code.length);
  }

  clear(): void {
    this.#round += 1;
    this.#size = 0;
    this.matched = false;
    this.undecided = false;
  }

  /**
   * Adds an instruction and everything reachable from it without taking a character. Assertions in `holds` are true,
   * those in `undecided` are kept as waiting threads, all others are false. Returns the number of instructions visited.
   */
  add(instruction: number, holds: number, undecided: number): number {
    const { code } = this.#program;
    const todo = this.#todo;
    let left = 0;
    let visited = 0;
    if (this.#visit(instruction)) todo[left++] = instruction;
    while (left > 0) {
      const at = todo[--left] as number;
      visited += 1;
      const { op, next, other, asserts } = code[at] as (typeof code)[number];
      if (op === RUNES) {
        this.#threads[this.#size++] = at;
      } else if (op === SPLIT) {
        if (this.#visit(next)) todo[left++] = next;
        if (this.#visit(other)) todo[left++] = other;
      } else if (op === JUMP || (op === ASSERT && (asserts & holds) !== 0)) {
        if (this.#visit(next)) todo[left++] = next;
      } else if (op === ASSERT && (asserts & undecided) !== 0) {
        this.#threads[this.#size++] = at;
        this.undecided = true;
      } else if (op === MATCH) {
        this.matched = true;
      } else if (op !== ASSERT && op !== FAIL) {
        throw new Error(`unknown instruction ${op}`);
      }
    }
    return visited;
  }

  /** The threads that wait for a character or for a decision. Valid until the next `add` or `clear`. */
  get threads(): Int32Array {
    return this.#threads.subarray(0, this.#size);
  }

  #visit(instruction: number): boolean {
    if (this.#stamps[instruction] === this.#round) return false;
    this.#stamps[instruction] = this.#round;
    return true;
  }
}
