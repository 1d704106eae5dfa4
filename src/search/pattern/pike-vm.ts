import { AT_END, AT_START, type Instruction, NO_WORD_BOUNDARY, type Program, RUNES, WORD_BOUNDARY } from './program.ts';
import { changesUpTo, MAX_RUNE, type RuneSet, runEnd, runStart } from './rune-set.ts';
import { ThreadList } from './thread-list.ts';

const WORD: RuneSet = Int32Array.of(0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b);
const LOOKAHEAD = AT_END | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** The set of instructions a program may be at between two characters: a state of the DFA. */
export interface ThreadState {
  readonly threads: Int32Array;
  /**
   * Whether some threads wait at an assertion that the next character decides. Only then do `afterWord` and `atStart`
   * matter.
   */
  readonly undecided: boolean;
  readonly afterWord: boolean;
  readonly atStart: boolean;
}

/** The result of taking one character, and the surrounding range of code points that give the same result. */
export interface PikeStep {
  /** The next state, or undefined if there is a match. */
  readonly to: ThreadState | undefined;
  readonly first: number;
  readonly last: number;
}

/**
 * Simulates a program on all paths in lockstep, starting a new thread at every character, until one of them matches.
 * This is Thompson's simulation in the form of a Pike VM, without submatches:
 * https://swtch.com/~rsc/regexp/regexp2.html. A step takes time linear in the size of the program.
 */
export class PikeVm {
  readonly #program: Program;
  readonly #before: ThreadList;
  readonly #after: ThreadList;

  /** Number of instructions visited so far. */
  work = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#before = new ThreadList(program);
    this.#after = new ThreadList(program);
  }

  /** Returns the state before the first character, or undefined if the empty string is a match. */
  start(): ThreadState | undefined {
    this.#after.clear();
    this.#after.add(this.#program.start, AT_START, LOOKAHEAD);
    return threadState(this.#after, { afterWord: false, atStart: true });
  }

  /** Takes one character. */
  step(from: ThreadState, rune: number): PikeStep {
    const { code, start } = this.#program;
    const wordChanges = changesUpTo(WORD, rune);
    const isWord = (wordChanges & 1) === 1;
    let first = 0;
    let last = MAX_RUNE;
    let { threads } = from;
    if (from.undecided) {
      first = runStart(WORD, wordChanges);
      last = runEnd(WORD, wordChanges);
      this.#decide(from, isWord === from.afterWord ? NO_WORD_BOUNDARY : WORD_BOUNDARY);
      if (this.#before.matched) return { to: undefined, first, last };
      threads = this.#before.threads;
    }
    const after = this.#after;
    after.clear();
    this.work += threads.length;
    for (const thread of threads) {
      const { op, runes, next } = code[thread] as Instruction;
      if (op !== RUNES) continue;
      const changes = changesUpTo(runes, rune);
      const low = Math.max(first, runStart(runes, changes));
      const high = Math.min(last, runEnd(runes, changes));
      if ((changes & 1) === 1) this.work += after.add(next, 0, LOOKAHEAD);
      // With a match, the remaining threads do not matter.
      if (after.matched) return { to: undefined, first: low, last: high };
      first = low;
      last = high;
    }
    this.work += after.add(start, 0, LOOKAHEAD);
    if (after.undecided) {
      first = Math.max(first, runStart(WORD, wordChanges));
      last = Math.min(last, runEnd(WORD, wordChanges));
    }
    return { to: threadState(after, { afterWord: isWord, atStart: false }), first, last };
  }

  /** Whether there is a match if the line ends in this state. */
  matchesAtEnd(from: ThreadState): boolean {
    if (!from.undecided) return false;
    this.#decide(from, from.afterWord ? AT_END | WORD_BOUNDARY : AT_END | NO_WORD_BOUNDARY);
    return this.#before.matched;
  }

  /** Replaces the threads by those that remain in `#before` once the assertions are decided. */
  #decide({ threads, atStart }: ThreadState, known: number): void {
    const holds = atStart ? known | AT_START : known;
    this.#before.clear();
    for (const thread of threads) this.work += this.#before.add(thread, holds, 0);
  }
}

function threadState(set: ThreadList, where: { afterWord: boolean; atStart: boolean }): ThreadState | undefined {
  if (set.matched) return undefined;
  const { undecided } = set;
  const { afterWord, atStart } = undecided ? where : { afterWord: false, atStart: false };
  return { threads: set.threads.slice(), undecided, afterWord, atStart };
}
