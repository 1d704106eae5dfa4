import { ASSERT, AT_START, type Instruction, JUMP, MATCH, type Program, RUNES, SPLIT } from '../pattern/program.ts';
import { changesUpTo, MAX_RUNE, type RuneSet } from '../pattern/rune-set.ts';
import { REPLACEMENT } from '../pattern/utf8.ts';
import { dominators } from './dominators.ts';

/** Maximum number of sequences: one bit each in a 32-bit word of the kernel's verification table. */
export const MAX_SEQUENCES = 32;

const LF = 0x0a;
/** Longer sequences are hardly more selective. */
const MAX_LENGTH = 16;
const MAX_DOMINATORS = 8;
/** With more threads at one position, nearly every byte is possible. */
const MAX_THREADS = 64;
/** Analyzing a program with more instructions, or with larger sets of characters, would take longer than it saves. */
const MAX_PROGRAM = 2_000;
const MAX_CHANGES = 20_000;

/** The set of possible bytes at each of some consecutive positions. */
export type ByteSequence = readonly (readonly number[])[];

/**
 * Returns sequences of which each must occur in every matching line: one for the start of a match, and one from each
 * dominator of the program (see `dominators`). Not all such sequences are found.
 */
export function requiredSequences(program: Program): ByteSequence[] {
  if (isTooLarge(program)) return [];
  const covered = new Set<number>();
  const sequences = [new SequenceWalk(program).sequenceFrom(undefined, covered)];
  for (const cut of dominators(program)) {
    if (sequences.length < MAX_DOMINATORS && !covered.has(cut)) {
      sequences.push(new SequenceWalk(program).sequenceFrom(cut, covered));
    }
  }
  return sequences.filter((sequence) => sequence.length > 0);
}

/**
 * Returns one sequence per first character of a match; at least one of them must occur in every matching line. They are
 * more selective than a single sequence: one for both `foo` and `bar` also accepts `for`. Returns none if there are
 * fewer than 2 or more than `MAX_SEQUENCES` ways to begin.
 */
export function prefixSequences(program: Program): ByteSequence[] {
  if (isTooLarge(program)) return [];
  const kinds = new SequenceWalk(program).firstInstructions();
  if (kinds.length < 2 || kinds.length > MAX_SEQUENCES) return [];
  return kinds.map((kind) => new SequenceWalk(program).sequenceAfter(kind));
}

/**
 * Returns the sequence that every matching line starts with, or undefined unless matches can start at the start of a
 * line only.
 */
export function lineStartSequence(program: Program): ByteSequence | undefined {
  if (isTooLarge(program) || !new SequenceWalk(program).beginsLine()) return undefined;
  const sequence = new SequenceWalk(program).sequenceFrom(undefined, new Set());
  return sequence.length > 0 ? sequence : undefined;
}

function isTooLarge({ code }: Program): boolean {
  return code.length > MAX_PROGRAM || code.reduce((sum, { runes }) => sum + runes.length, 0) > MAX_CHANGES;
}

/** Instruction number times four, plus the number of missing bytes if the instruction has taken part of a character. */
type Threads = Set<number>;

/** Simulates all matches at once, byte by byte, and records which bytes are possible at each position. */
class SequenceWalk {
  readonly #program: Program;
  /** An instruction that no thread may reach again. */
  #excluded: number | undefined;
  /** Whether some match may have ended. */
  #ended = false;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Whether matches can start at the start of a line only. */
  beginsLine(): boolean {
    const threads: Threads = new Set();
    this.#open(this.#program.start, threads);
    return threads.size === 0 && !this.#ended;
  }

  /** Returns the instructions that take the first character of a match, or none if a match may be empty. */
  firstInstructions(): number[] {
    const threads: Threads = new Set();
    this.#open(this.#program.start, threads, AT_START);
    return this.#ended ? [] : [...threads].map((thread) => thread >> 2);
  }

  /** Returns the byte sequence of matches that start with this instruction. */
  sequenceAfter(beginning: number): ByteSequence {
    return this.#follow(new Set([4 * beginning]));
  }

  /**
   * Returns the byte sequence of every match: from its start, or from the last character that a dominator takes. Adds
   * to `covered` the instructions from which a further sequence would be no more selective.
   */
  sequenceFrom(cut: number | undefined, covered: Set<number>): ByteSequence {
    const threads: Threads = new Set(cut === undefined ? [] : [4 * cut]);
    if (cut === undefined) this.#open(this.#program.start, threads, AT_START);
    this.#excluded = cut;
    return this.#follow(threads, covered);
  }

  #follow(first: Threads, covered?: Set<number>): ByteSequence {
    const sequence: number[][] = [];
    let threads = first;
    while (!this.#ended && sequence.length < MAX_LENGTH && threads.size > 0 && threads.size <= MAX_THREADS) {
      const bytes = new Array<number>(256).fill(0);
      const next: Threads = new Set();
      for (const thread of threads) this.#take(thread, bytes, next);
      // A match lies within one line.
      bytes[LF] = 0;
      sequence.push(listed(bytes));
      const [only] = threads;
      if (only !== undefined && threads.size === 1 && (only & 3) === 0 && !next.has(only)) covered?.add(only >> 2);
      threads = next;
    }
    return sequence;
  }

  /** Adds the bytes that a thread may take, and the threads that follow. */
  #take(thread: number, bytes: number[], next: Threads): void {
    const instruction = thread >> 2;
    const missing = thread & 3;
    const { runes, next: out } = this.#program.code[instruction] as Instruction;
    if (missing > 0) {
      addLaterBytes(runes, missing, bytes);
      if (missing > 1) next.add(thread - 1);
      else this.#open(out, next);
      return;
    }
    const lengths = addFirstBytes(runes, bytes);
    if (lengths.has(1)) this.#open(out, next);
    for (const length of lengths) if (length > 1) next.add(thread + length - 1);
  }

  /**
   * Adds an instruction and everything reachable without taking a byte. Assertions are assumed to hold, except AT_START
   * where `holds` lacks it.
   */
  #open(instruction: number, threads: Threads, holds = 0): void {
    const met = new Set<number>();
    const todo = [instruction];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (met.has(at) || at === this.#excluded) continue;
      met.add(at);
      const { op, next, other, asserts } = this.#program.code[at] as Instruction;
      if (op === RUNES) threads.add(4 * at);
      else if (op === MATCH) this.#ended = true;
      else if (op === SPLIT) todo.push(next, other);
      else if (op === JUMP || (op === ASSERT && (asserts !== AT_START || holds === AT_START))) todo.push(next);
    }
  }
}

function listed(bytes: readonly number[]): number[] {
  const list: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) if (bytes[byte] === 1) list.push(byte);
  return list;
}

/**
 * For each encoded length: the range of its code points, the shift to the bits in the first byte, and the marker bits
 * of that byte.
 */
const LENGTHS = [
  { length: 1, low: 0, high: 0x7f, shift: 0, mark: 0 },
  { length: 2, low: 0x80, high: 0x7ff, shift: 6, mark: 0xc0 },
  { length: 3, low: 0x800, high: 0xffff, shift: 12, mark: 0xe0 },
  { length: 4, low: 0x10000, high: MAX_RUNE, shift: 18, mark: 0xf0 },
];

/** Adds the first bytes of the characters of a set. Returns the encoded lengths of these characters. */
function addFirstBytes(set: RuneSet, bytes: number[]): Set<number> {
  const lengths = new Set<number>();
  for (let i = 0; i < set.length; i += 2) {
    for (const { length, low, high, shift, mark } of LENGTHS) {
      const first = Math.max(low, set[i] as number);
      const last = Math.min(high, (set[i + 1] as number) - 1);
      if (first > last) continue;
      lengths.add(length);
      bytes.fill(1, mark | (first >> shift), (mark | (last >> shift)) + 1);
    }
  }
  if (hasReplacement(set)) {
    for (const length of [1, 2, 3]) lengths.add(length);
    bytes.fill(1, 0x80);
  }
  return lengths;
}

/** Adds the continuation bytes that characters of a set have where `missing` bytes are missing. */
function addLaterBytes(set: RuneSet, missing: number, bytes: number[]): void {
  if (hasReplacement(set)) {
    bytes.fill(1, 0x80, 0xc0);
    return;
  }
  const shift = 6 * (missing - 1);
  const longer = LENGTHS[missing]?.low ?? 0;
  for (let i = 0; i < set.length; i += 2) {
    const first = Math.max(longer, set[i] as number) >> shift;
    const last = ((set[i + 1] as number) - 1) >> shift;
    for (let bits = first; bits <= last && bits < first + 0x40; bits += 1) bytes[0x80 | (bits & 0x3f)] = 1;
  }
}

/** Whether a set contains U+FFFD, which also stands for one to three bytes that are not UTF-8. */
function hasReplacement(set: RuneSet): boolean {
  return (changesUpTo(set, REPLACEMENT) & 1) === 1;
}
