import type { Root } from '../../fence/index.ts';
import { Budget } from './budget.ts';
import { EntryTask } from './entry-task.ts';
import { compileGlob, compileGlobFilter, type PathPattern } from './glob-pattern.ts';
import { compileLinePattern, compileRegex } from './line-pattern.ts';
import { LineTask } from './line-task.ts';
import type { Answer, EntrySpec, LineSpec, SearchSpec, Task } from './messages.ts';
import { ReadMemory } from './read-memory.ts';
import { READ_BYTES } from './region-reader.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import { type Piece, pack, type Stretch, unpack } from './stretch.ts';

/** How much memory is kept for later tasks: more is needed only while many searches are under way at once. */
const MOST_KEPT = 4;

interface SessionOptions {
  readonly root: Root;
  readonly spec: SearchSpec;
  readonly stop: StopFlag;
  /** Memory that no task is using right now; one is taken and given back. */
  readonly memories: ReadMemory[];
}

/** Does the tasks of one search on one worker. */
export class Session {
  readonly #options: SessionOptions;
  /** Compiled with the first task, so that it is told of a wrong pattern. */
  #search: ((stretches: readonly Stretch[], budget: Budget) => Steps<Piece<unknown>[]>) | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  *run({ stretches, budget }: Task): Steps<Answer> {
    const { spec } = this.#options;
    this.#search ??= spec.kind === 'entries' ? this.#forEntries(spec) : this.#forLines(spec);
    return pack(yield* this.#search(unpack(stretches) as Stretch[], new Budget(budget)));
  }

  #forEntries(spec: EntrySpec) {
    const { root, stop } = this.#options;
    const pattern = spec.glob === undefined ? regexPattern(spec.regex ?? '') : compileGlob(spec.glob);
    return (stretches: readonly Stretch[], budget: Budget) =>
      new EntryTask({ root, spec, pattern, stop, budget }).run(stretches);
  }

  #forLines(spec: LineSpec) {
    const { root, stop, memories } = this.#options;
    const pattern = compileLinePattern(spec, stop);
    const wanted = spec.globFilter === undefined ? undefined : compileGlobFilter(spec.globFilter);
    return function* (stretches: readonly Stretch[], budget: Budget): Steps<Piece<unknown>[]> {
      const memory = memories.pop() ?? new ReadMemory(root, READ_BYTES);
      try {
        return yield* new LineTask({ root, spec, pattern, wanted, stop, memory, budget }).run(stretches);
      } finally {
        if (memories.length < MOST_KEPT) memories.push(memory);
      }
    };
  }
}

function regexPattern(source: string): PathPattern {
  const regex = compileRegex(source);
  return { matches: (path) => regex.test(path), mayMatchBelow: () => true };
}
