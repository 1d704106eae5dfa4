import type { Root } from '../../fence/index.ts';
import { compileLinePattern, compileRegex } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import { compileGlob, compileGlobFilter, type PathPattern } from '../pattern/glob-pattern.ts';
import { Budget } from './budget.ts';
import { GlobTask } from './glob-task.ts';
import { GrepTask } from './grep-task.ts';
import type { GlobSpec, GrepSpec, SearchSpec, SearchTask, TaskResult } from './messages.ts';
import type { Coroutine } from './round-robin.ts';
import type { StealRequest, StopFlag } from './shared-flags.ts';
import { packResults, unpackResults, type WorkResult, type WorkUnit } from './work-unit.ts';

interface SearchJobOptions {
  readonly root: Root;
  readonly spec: SearchSpec;
  readonly stop: StopFlag;
  readonly steal: StealRequest;
  /** Source of the read buffers. */
  readonly memory: SearchMemory;
}

/** Runs the tasks of one search on one worker. */
export class SearchJob {
  readonly #options: SearchJobOptions;
  /** Compiled in the first task rather than in the notice, because only a task can answer with an error. */
  #search: ((units: readonly WorkUnit[], budget: Budget) => Coroutine<WorkResult<unknown>[]>) | undefined;

  constructor(options: SearchJobOptions) {
    this.#options = options;
  }

  *run({ units, budget }: SearchTask): Coroutine<TaskResult> {
    const { spec, steal } = this.#options;
    this.#search ??= spec.kind === 'glob' ? this.#forEntries(spec) : this.#forLines(spec);
    return packResults(yield* this.#search(unpackResults(units) as WorkUnit[], new Budget(budget, steal)));
  }

  #forEntries(spec: GlobSpec) {
    const { root, stop } = this.#options;
    const pattern = spec.glob === undefined ? regexPattern(spec.regex ?? '') : compileGlob(spec.glob);
    return (units: readonly WorkUnit[], budget: Budget) =>
      new GlobTask({ root, spec, pattern, stop, budget }).run(units);
  }

  #forLines(spec: GrepSpec) {
    const { root, stop, memory } = this.#options;
    const pattern = compileLinePattern(spec, { stop, memory });
    const wanted = spec.globFilter === undefined ? undefined : compileGlobFilter(spec.globFilter);
    return function* (units: readonly WorkUnit[], budget: Budget): Coroutine<WorkResult<unknown>[]> {
      const buffer = memory.take(root);
      try {
        return yield* new GrepTask({ root, spec, pattern, wanted, stop, memory, buffer, budget }).run(units);
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
