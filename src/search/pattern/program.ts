import { RE2JS } from 're2js';
import { type RuneSet, runeSet } from './rune-set.ts';

/** An assertion about a place between two characters, as bits; those of lines and texts are the same within one line. */
export const AT_START = 1;
export const AT_END = 2;
export const WORD_BOUNDARY = 4;
export const NO_WORD_BOUNDARY = 8;

export const FAIL = 0;
export const MATCH = 1;
export const RUNES = 2;
export const SPLIT = 3;
export const JUMP = 4;
export const ASSERT = 5;

/** One instruction of a non-deterministic automaton. */
export interface Instruction {
  readonly op: number;
  readonly next: number;
  /** The other way of a split. */
  readonly other: number;
  /** What an assertion asserts. */
  readonly asserts: number;
  /** What the next character must be. */
  readonly runes: RuneSet;
}

export interface Program {
  readonly start: number;
  readonly code: readonly Instruction[];
}

/** An instruction of re2js. */
interface Compiled {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
}

const OPS: Readonly<Record<number, number>> = {
  1: SPLIT,
  2: SPLIT,
  3: JUMP,
  4: ASSERT,
  5: FAIL,
  6: MATCH,
  7: JUMP,
  8: RUNES,
  9: RUNES,
  10: RUNES,
  11: RUNES,
};
const ASSERTIONS: Readonly<Record<number, number>> = {
  1: AT_START,
  2: AT_END,
  4: AT_START,
  8: AT_END,
  16: WORD_BOUNDARY,
  32: NO_WORD_BOUNDARY,
};
const FOLD_CASE = 1;
const NO_RUNES = new Int32Array(0);

/** What a pattern was compiled to. */
export function programOf(regex: RE2JS): Program {
  const { inst, start } = regex.re2().prog as { inst: readonly Compiled[]; start: number };
  const sets = new RuneSets();
  const code: Instruction[] = [];
  for (const { op: theirs, out, arg, runes } of inst) {
    const op = OPS[theirs];
    const asserts = op === ASSERT ? ASSERTIONS[arg] : 0;
    if (op === undefined || asserts === undefined) throw new Error(`instruction ${theirs} ${arg} is not known`);
    code.push({ op, next: out, other: arg, asserts, runes: op === RUNES ? sets.of(runes, arg) : NO_RUNES });
  }
  return { start, code };
}

/** Repetitions share one array of runes: each is looked at once. */
class RuneSets {
  readonly #plain = new Map<Int32Array, RuneSet>();
  readonly #folded = new Map<number, RuneSet>();

  of(runes: Int32Array, flags: number): RuneSet {
    if (runes.length === 1 && (flags & FOLD_CASE) !== 0) return this.#fold(runes[0] as number);
    let set = this.#plain.get(runes);
    if (set === undefined) {
      set = runeSet(runes.length === 1 ? Int32Array.of(runes[0] as number, runes[0] as number) : runes);
      this.#plain.set(runes, set);
    }
    return set;
  }

  #fold(rune: number): RuneSet {
    let set = this.#folded.get(rune);
    if (set === undefined) {
      set = runeSet(foldsOf(rune));
      this.#folded.set(rune, set);
    }
    return set;
  }
}

/** All code points that are the same but for their case. Of a class the parser lists them; NUL makes it a class. */
function foldsOf(rune: number): Int32Array {
  const { inst } = RE2JS.compile(`(?i)[\\x{0}\\x{${rune.toString(16)}}]`).re2().prog as { inst: readonly Compiled[] };
  return (inst[1] as Compiled).runes.slice(2);
}
