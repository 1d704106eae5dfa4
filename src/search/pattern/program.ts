import { RE2JS } from 're2js';
import { type RuneSet, runeSet } from './rune-set.ts';

// Assertions are bits, so that a mask can say which of them hold.

/** Assertion: start of the line. Each line is matched as a text of its own, so `^` and `\A` are the same. */
export const AT_START = 1;
/** Assertion: end of the line. Each line is matched as a text of its own, so `$` and `\z` are the same. */
export const AT_END = 2;
/** Assertion: `\b`, between an ASCII word character and another character or the end of the line. */
export const WORD_BOUNDARY = 4;
/** Assertion: `\B`, where `WORD_BOUNDARY` does not hold. */
export const NO_WORD_BOUNDARY = 8;

/** Opcode: the thread ends without a match. */
export const FAIL = 0;
/** Opcode: the pattern has matched. */
export const MATCH = 1;
/** Opcode: takes one character of `runes` and continues at `next`. */
export const RUNES = 2;
/** Opcode: continues at both `next` and `other`. */
export const SPLIT = 3;
/** Opcode: continues at `next`. */
export const JUMP = 4;
/** Opcode: continues at `next` if the assertion holds. */
export const ASSERT = 5;

/** One instruction of a program for a Pike VM. */
export interface Instruction {
  readonly op: number;
  readonly next: number;
  /** Second target of a SPLIT. */
  readonly other: number;
  /** The assertion of an ASSERT, as bits. */
  readonly asserts: number;
  /** The characters that a RUNES instruction accepts. */
  readonly runes: RuneSet;
}

/** A program for a Pike VM: instructions, and the number of the first one. */
export interface Program {
  readonly start: number;
  readonly code: readonly Instruction[];
}

/** An instruction as re2js represents it. */
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

/**
 * Translates the program that re2js compiled a pattern to. Throws on an instruction that is not known, as a newer re2js
 * might emit.
 */
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

/** Converts each rune array once: re2js shares arrays among the copies of a repetition. */
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

/**
 * Returns ranges of all code points that are equal under case folding. The parser lists them for classes only, so a NUL
 * makes the character a class.
 */
function foldsOf(rune: number): Int32Array {
  const { inst } = RE2JS.compile(`(?i)[\\x{0}\\x{${rune.toString(16)}}]`).re2().prog as { inst: readonly Compiled[] };
  return (inst[1] as Compiled).runes.slice(2);
}
