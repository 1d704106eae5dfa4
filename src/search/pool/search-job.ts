import type { Root } from '../../fence/index.ts';
import { compileLinePattern, compileRegex } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import { compileGlob, compileGlobFilter, type PathPattern } from '../pattern/glob-pattern.ts';
import { EntryTask } from '../task/entry-task.ts';
import { LineTask } from '../task/line-task.ts';
import type { Steps } from '../task/steps.ts';
import type { StopFlag } from '../task/stop-flag.ts';
import { type Piece, pack, type Stretch, unpack } from '../task/work-unit.ts';
import { Budget } from '../walk/budget.ts';
import type { CallForWork } from '../walk/steal-request.ts';
import type { Answer, EntrySpec, LineSpec, SearchSpec, Task } from './messages.ts';

interface SessionOptions {
  readonly root: Root;
  readonly spec: SearchSpec;
  readonly stop: StopFlag;
  readonly call: CallForWork;
  /** Where tasks read files into. */
  readonly memory: SearchMemory;
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
    const { spec, call } = this.#options;
    this.#search ??= spec.kind === 'entries' ? this.#forEntries(spec) : this.#forLines(spec);
    return pack(yield* this.#search(unpack(stretches) as Stretch[], new Budget(budget, call)));
  }

  #forEntries(spec: EntrySpec) {
    const { root, stop } = this.#options;
    const pattern = spec.glob === undefined ? regexPattern(spec.regex ?? '') : compileGlob(spec.glob);
    return (stretches: readonly Stretch[], budget: Budget) =>
      new EntryTask({ root, spec, pattern, stop, budget }).run(stretches);
  }

  #forLines(spec: LineSpec) {
    const { root, stop, memory } = this.#options;
    const pattern = compileLinePattern(spec, { stop, memory });
    const wanted = spec.globFilter === undefined ? undefined : compileGlobFilter(spec.globFilter);
    return function* (stretches: readonly Stretch[], budget: Budget): Steps<Piece<unknown>[]> {
      const buffer = memory.take(root);
      try {
        return yield* new LineTask({ root, spec, pattern, wanted, stop, memory, buffer, budget }).run(stretches);
      } finally {
        memory.giveBack(buffer);
      }
    };
  }
}

function regexPattern(source: string): PathPattern {
  const regex = compileRegex(source);
  return { matches: (path) => regex.test(path), mayMatchBelow: () => true };
}
