import type { Entry, EntryType, Root } from '../../fence/index.ts';
import type { PathPattern } from '../pattern/glob-pattern.ts';
import { childPath, DirCache, type DirNode, START_NODE } from '../walk/dir-cache.ts';
import type { IgnoreRules } from '../walk/ignore-rules.ts';
import { isSkippable } from '../walk/is-skippable.ts';
import { walkTree } from '../walk/walk-tree.ts';
import { type Budget, SEARCH_COST } from './budget.ts';
import type { GlobSpec } from './messages.ts';
import type { Coroutine } from './round-robin.ts';
import type { StopFlag } from './shared-flags.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

/** An entry that matched. */
export interface FoundEntry {
  /** Path relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly mtimeMs: number;
}

/** What a glob task found in a work unit, in path order. */
export interface GlobFound {
  readonly entries: readonly FoundEntry[];
  /** Number of folders that could not be read. */
  readonly skipped: number;
  /** Number of entries that were compared with the pattern. */
  readonly seen: number;
  /** Number of entries that ignore rules leave out. */
  readonly ignored: number;
}

interface GlobTaskOptions {
  readonly root: Root;
  readonly spec: GlobSpec;
  readonly pattern: PathPattern;
  readonly rules: IgnoreRules | undefined;
  readonly stop: StopFlag;
  readonly budget: Budget;
}

/** Finds the entries of some work units until its budget is spent. */
export class GlobTask {
  readonly #options: GlobTaskOptions;
  readonly #prefix: string;
  readonly #results: WorkResult<GlobFound>[] = [];
  #entries: FoundEntry[] = [];
  #skipped = 0;
  #seen = 0;
  #ignored = 0;
  #count = 0;

  constructor(options: GlobTaskOptions) {
    this.#options = options;
    this.#prefix = options.spec.path.segments.map((segment) => `${segment}/`).join('');
  }

  /**
   * Works on the units and returns, in path order, what it found and what is left to do. Raises the error of opening
   * the start of the search; folders below it that cannot be read are skipped.
   */
  *run(units: readonly WorkUnit[]): Coroutine<WorkResult<GlobFound>[]> {
    const { root, spec, budget } = this.#options;
    using dirs = new DirCache(() => root.openDir(spec.path));
    dirs.open(START_NODE);
    for (const unit of units) {
      if (unit.kind !== 'start' && unit.kind !== 'folder') throw new Error(`${unit.kind} among entries`);
      if (budget.isSpent()) this.#leave(unit);
      else yield* this.#walk(dirs, unit.kind === 'start' ? START_NODE : unit.node);
    }
    if (this.#isOver()) this.#leave({ kind: 'unfinished' });
    this.#flush();
    return this.#results;
  }

  *#walk(dirs: DirCache, from: DirNode): Coroutine<void> {
    const { spec, pattern, rules, budget, stop } = this.#options;
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
      rules,
      ignored: (entries) => {
        this.#ignored += entries;
      },
      isStopped: () => stop.raised,
    });
    for (const { node, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) this.#leave({ kind: 'folder', node });
      else if (entries.length === 0) yield undefined;
      else yield* this.#visit(dirs, node, entries);
    }
  }

  *#visit(dirs: DirCache, node: DirNode, entries: readonly Entry[]): Coroutine<void> {
    const { pattern, budget } = this.#options;
    for (const entry of entries) {
      if (this.#isOver()) return;
      if (budget.shouldYield()) yield undefined;
      this.#seen += 1;
      const path = childPath(node, entry.name);
      if (!pattern.matches(path, entry.type)) continue;
      this.#look(dirs, node, entry, path);
      budget.spend(SEARCH_COST.found);
    }
  }

  /** Whether the search was stopped or has found more than may be returned. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#count > this.#options.spec.maxResults;
  }

  /** Adds an entry that matched, unless it vanished or changed its type since its folder was listed. */
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

  /** Appends, after everything found so far, a unit that is left to do or the mark that the task stopped early. */
  #leave(result: WorkUnit | { kind: 'unfinished' }): void {
    this.#flush();
    this.#results.push(result);
  }

  #flush(): void {
    const found = { entries: this.#entries, skipped: this.#skipped, seen: this.#seen, ignored: this.#ignored };
    if (found.entries.length === 0 && found.skipped + found.seen + found.ignored === 0) return;
    this.#results.push({ kind: 'found', found });
    this.#entries = [];
    this.#skipped = 0;
    this.#seen = 0;
    this.#ignored = 0;
  }
}
