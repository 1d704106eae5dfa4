import type { Entry, EntryType, Root } from '../../fence/index.ts';
import type { PathPattern } from '../pattern/glob-pattern.ts';
import type { GlobSpec } from '../task/specs.ts';
import type { Coroutine } from '../task/steps.ts';
import type { StopFlag } from '../task/stop-flag.ts';
import { childPath, DirCache, type DirNode, START_NODE } from '../walk/dir-cache.ts';
import { isSkippable, walkTree } from '../walk/walk-tree.ts';
import { type Budget, COST } from './budget.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

export interface FoundEntry {
  /** Relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly mtimeMs: number;
}

/** What a search for entries finds in a stretch, in path order. */
export interface EntryResults {
  readonly entries: readonly FoundEntry[];
  /** Folders that could not be read. */
  readonly skipped: number;
}

interface EntryTaskOptions {
  readonly root: Root;
  readonly spec: GlobSpec;
  readonly pattern: PathPattern;
  readonly stop: StopFlag;
  readonly budget: Budget;
}

/** Looks for entries as far as its budget goes. */
export class EntryTask {
  readonly #options: EntryTaskOptions;
  readonly #prefix: string;
  readonly #results: WorkResult<EntryResults>[] = [];
  #entries: FoundEntry[] = [];
  #skipped = 0;
  #count = 0;

  constructor(options: EntryTaskOptions) {
    this.#options = options;
    this.#prefix = options.spec.path.segments.map((segment) => `${segment}/`).join('');
  }

  /** Raises what is wrong with the start if that is where to begin. */
  *run(units: readonly WorkUnit[]): Coroutine<WorkResult<EntryResults>[]> {
    const { root, spec, budget } = this.#options;
    using dirs = new DirCache(() => root.openDir(spec.path));
    dirs.open(START_NODE);
    for (const unit of units) {
      if (unit.kind !== 'start' && unit.kind !== 'folder') throw new Error(`${unit.kind} among entries`);
      if (budget.isSpent) this.#leave(unit);
      else yield* this.#walk(dirs, unit.kind === 'start' ? START_NODE : unit.node);
    }
    if (this.#isOver()) this.#leave({ kind: 'unfinished' });
    this.#flush();
    return this.#results;
  }

  *#walk(dirs: DirCache, from: DirNode): Coroutine<void> {
    const { spec, pattern, budget } = this.#options;
    const visits = walkTree(from, {
      dirs,
      budget,
      types: new Set(spec.types),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: (path) => pattern.mayMatchBelow(path),
      skipped: () => {
        this.#skipped += 1;
      },
    });
    for (const { node, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) this.#leave({ kind: 'folder', node });
      else yield* this.#visit(dirs, node, entries);
    }
  }

  *#visit(dirs: DirCache, node: DirNode, entries: readonly Entry[]): Coroutine<void> {
    const { pattern, budget } = this.#options;
    for (const entry of entries) {
      if (this.#isOver()) return;
      if (budget.shouldYield()) yield undefined;
      const path = childPath(node, entry.name);
      if (!pattern.matches(path, entry.type)) continue;
      this.#look(dirs, node, entry, path);
      budget.spend(COST.found);
    }
  }

  /** It was told to stop, or has found more than is wanted. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#count > this.#options.spec.maxResults;
  }

  /** Leaves out what has vanished, or become something else, since its folder was listed. */
  #look(dirs: DirCache, node: DirNode, entry: Entry, path: string): void {
    try {
      const found = dirs.open(node).statLite(entry.raw);
      if (found?.type !== entry.type) return;
      const { size, mtimeMs } = found;
      this.#entries.push({ path: this.#prefix + path, type: entry.type, size, mtimeMs });
      this.#count += 1;
    } catch (error) {
      if (!isSkippable(error)) throw error;
    }
  }

  /** Notes here, after all that was found so far, what others have to do, or that the search broke off. */
  #leave(result: WorkUnit | { kind: 'unfinished' }): void {
    this.#flush();
    this.#results.push(result);
  }

  #flush(): void {
    if (this.#entries.length === 0 && this.#skipped === 0) return;
    this.#results.push({ kind: 'found', found: { entries: this.#entries, skipped: this.#skipped } });
    this.#entries = [];
    this.#skipped = 0;
  }
}
