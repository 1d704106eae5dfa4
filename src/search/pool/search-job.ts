import type { EntryType, Root } from '../../fence/index.ts';
import { compileLinePattern } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import { compileFileType } from '../pattern/compile-file-type.ts';
import { compileExcludes, compileGlob, compileGlobFilter, type PathPattern } from '../pattern/glob-pattern.ts';
import { compileRegex } from '../pattern/regex.ts';
import { IgnoreRules } from '../walk/ignore-rules.ts';
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
  #search:
    | ((units: readonly WorkUnit[], budget: Budget, toPass?: number) => Coroutine<WorkResult<unknown>[]>)
    | undefined;

  constructor(options: SearchJobOptions) {
    this.#options = options;
  }

  *run({ units, budget, toPass }: SearchTask): Coroutine<TaskResult> {
    const { spec, steal, stop } = this.#options;
    this.#search ??= spec.kind === 'glob' ? this.#forEntries(spec) : this.#forLines(spec);
    // The caller may have given up by now, and have closed the root.
    if (stop.raised) return packResults([{ kind: 'unfinished' }]);
    return packResults(yield* this.#search(unpackResults(units) as WorkUnit[], new Budget(budget, steal), toPass));
  }

  #forEntries(spec: GlobSpec) {
    const { root, stop } = this.#options;
    const query = spec.glob === undefined ? regexPattern(spec.regex ?? '') : compileGlob(spec.glob);
    const pattern = spec.exclude.length === 0 ? query : without(query, compileExcludes(spec.exclude));
    const rules = spec.ignore ? new IgnoreRules(root, spec.path) : undefined;
    return (units: readonly WorkUnit[], budget: Budget) =>
      new GlobTask({ root, spec, pattern, rules, stop, budget }).run(units);
  }

  #forLines(spec: GrepSpec) {
    const { root, stop, memory } = this.#options;
    const pattern = compileLinePattern(spec, { stop, memory });
    const excluded = spec.exclude.length === 0 ? undefined : compileExcludes(spec.exclude);
    const wanted = compileFilter(spec, excluded);
    const enters = (path: string): boolean => excluded?.(path, 'directory') !== true;
    const rules = spec.ignore ? new IgnoreRules(root, spec.path) : undefined;
    const fixed = { root, spec, pattern, wanted, enters, rules, stop, memory };
    return function* (units: readonly WorkUnit[], budget: Budget, toPass?: number): Coroutine<WorkResult<unknown>[]> {
      const buffer = memory.take(root);
      try {
        return yield* new GrepTask({ ...fixed, buffer, budget, toPass }).run(units);
      } finally {
        memory.giveBack(buffer);
      }
    };
  }
}

type EntryTest = (path: string, type: EntryType) => boolean;

/** Returns which files to search by their paths, or undefined for all of them. */
function compileFilter({ globFilter, type }: GrepSpec, excluded: EntryTest | undefined) {
  const matches = globFilter === undefined ? undefined : compileGlobFilter(globFilter);
  const isOfType = type === undefined ? undefined : compileFileType(type);
  if (matches === undefined && isOfType === undefined && excluded === undefined) return undefined;
  return (path: string): boolean =>
    isOfType?.(path.slice(path.lastIndexOf('/') + 1)) !== false &&
    matches?.(path) !== false &&
    excluded?.(path, 'file') !== true;
}

function without(pattern: PathPattern, excluded: EntryTest): PathPattern {
  return {
    matches: (path, type) => pattern.matches(path, type) && !excluded(path, type),
    mayMatchBelow: (folder) => pattern.mayMatchBelow(folder) && !excluded(folder, 'directory'),
  };
}

function regexPattern(source: string): PathPattern {
  const regex = compileRegex(source);
  return { matches: (path) => regex.test(path), mayMatchBelow: () => true };
}
