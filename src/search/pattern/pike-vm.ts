import { AT_END, AT_START, type Instruction, NO_WORD_BOUNDARY, type Program, RUNES, WORD_BOUNDARY } from './program.ts';
import { changesUpTo, firstAlike, lastAlike, MAX_RUNE, type RuneSet } from './rune-set.ts';
import { ThreadList } from './thread-list.ts';

const WORD: RuneSet = Int32Array.of(0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b);
const LATER = AT_END | WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** All that a program may be at between two characters. */
export interface ThreadState {
  readonly threads: Int32Array;
  /** Some of them wait for the next character to decide an assertion. Only then does it matter where this is. */
  readonly undecided: boolean;
  readonly afterWord: boolean;
  readonly atStart: boolean;
}

/** Where a character leads, and the first and last code point around it that lead there too. */
export interface PikeStep {
  /** Undefined if a match is complete. */
  readonly to: ThreadState | undefined;
  readonly first: number;
  readonly last: number;
}

/** Runs a program on a line, in all ways at once and from every place on, until there is a match. */
export class PikeVm {
  readonly #program: Program;
  readonly #before: ThreadList;
  readonly #after: ThreadList;

  constructor(program: Program) {
    this.#program = program;
    this.#before = new ThreadList(program);
    this.#after = new ThreadList(program);
  }

  /** Before the first character, or undefined if nothing at all is a match already. */
  start(): ThreadState | undefined {
    this.#after.clear();
    this.#after.add(this.#program.start, AT_START, LATER);
    return threadState(this.#after, { afterWord: false, atStart: true });
  }

  step(from: ThreadState, rune: number): PikeStep {
    const { code, start } = this.#program;
    const wordChanges = changesUpTo(WORD, rune);
    const isWord = (wordChanges & 1) === 1;
    let first = 0;
    let last = MAX_RUNE;
    let { threads } = from;
    if (from.undecided) {
      first = firstAlike(WORD, wordChanges);
      last = lastAlike(WORD, wordChanges);
      this.#decide(from, isWord === from.afterWord ? NO_WORD_BOUNDARY : WORD_BOUNDARY);
      if (this.#before.matched) return { to: undefined, first, last };
      threads = this.#before.threads;
    }
    const after = this.#after;
    after.clear();
    for (const thread of threads) {
      const { op, runes, next } = code[thread] as Instruction;
      if (op !== RUNES) continue;
      const changes = changesUpTo(runes, rune);
      const low = Math.max(first, firstAlike(runes, changes));
      const high = Math.min(last, lastAlike(runes, changes));
      if ((changes & 1) === 1) after.add(next, 0, LATER);
      // Then it does not matter where the others lead.
      if (after.matched) return { to: undefined, first: low, last: high };
      first = low;
      last = high;
    }
    after.add(start, 0, LATER);
    if (after.undecided) {
      first = Math.max(first, firstAlike(WORD, wordChanges));
      last = Math.min(last, lastAlike(WORD, wordChanges));
    }
    return { to: threadState(after, { afterWord: isWord, atStart: false }), first, last };
  }

  /** Is there a match if the line ends here? */
  matchesAtEnd(from: ThreadState): boolean {
    if (!from.undecided) return false;
    this.#decide(from, from.afterWord ? AT_END | WORD_BOUNDARY : AT_END | NO_WORD_BOUNDARY);
    return this.#before.matched;
  }

  /** Leaves in `#before` what remains of the threads once it is known what holds. */
  #decide({ threads, atStart }: ThreadState, known: number): void {
    const holds = atStart ? known | AT_START : known;
    this.#before.clear();
    for (const thread of threads) this.#before.add(thread, holds, 0);
  }
}

function threadState(set: ThreadList, where: { afterWord: boolean; atStart: boolean }): ThreadState | undefined {
  if (set.matched) return undefined;
  const { undecided } = set;
  const { afterWord, atStart } = undecided ? where : { afterWord: false, atStart: false };
  return { threads: set.threads.slice(), undecided, afterWord, atStart };
}
