import type { Entry, EntryType, Root } from '../../fence/index.ts';
import type { PathPattern } from '../pattern/glob-pattern.ts';
import type { EntrySpec } from '../pool/messages.ts';
import { type Budget, COST } from '../walk/budget.ts';
import { type Place, pathIn, START, Trail } from '../walk/dir-cache.ts';
import { isSkippable, walk } from '../walk/walk.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import type { Piece, Stretch } from './work-unit.ts';

export interface FoundEntry {
  /** Relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly mtimeMs: number;
}

/** What a search for entries finds in a stretch, in path order. */
export interface FoundEntries {
  readonly entries: readonly FoundEntry[];
  /** Folders that could not be read. */
  readonly skipped: number;
}

interface EntryTaskOptions {
  readonly root: Root;
  readonly spec: EntrySpec;
  readonly pattern: PathPattern;
  readonly stop: StopFlag;
  readonly budget: Budget;
}

/** Looks for entries as far as its budget goes. */
export class EntryTask {
  readonly #options: EntryTaskOptions;
  readonly #prefix: string;
  readonly #pieces: Piece<FoundEntries>[] = [];
  #entries: FoundEntry[] = [];
  #skipped = 0;
  #count = 0;

  constructor(options: EntryTaskOptions) {
    this.#options = options;
    this.#prefix = options.spec.path.segments.map((segment) => `${segment}/`).join('');
  }

  /** Raises what is wrong with the start if that is where to begin. */
  *run(stretches: readonly Stretch[]): Steps<Piece<FoundEntries>[]> {
    const { root, spec, budget } = this.#options;
    using trail = new Trail(() => root.openDir(spec.path));
    trail.enter(START);
    for (const stretch of stretches) {
      if (stretch.kind !== 'start' && stretch.kind !== 'folder') throw new Error(`${stretch.kind} among entries`);
      if (budget.spent) this.#leave(stretch);
      else yield* this.#walk(trail, stretch.kind === 'start' ? START : stretch.place);
    }
    if (this.#isOver()) this.#leave({ kind: 'unfinished' });
    this.#flush();
    return this.#pieces;
  }

  *#walk(trail: Trail, from: Place): Steps<void> {
    const { spec, pattern, budget } = this.#options;
    const visits = walk(from, {
      trail,
      budget,
      types: new Set(spec.types),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: (path) => pattern.mayMatchBelow(path),
      skipped: () => {
        this.#skipped += 1;
      },
    });
    for (const { place, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) this.#leave({ kind: 'folder', place });
      else yield* this.#visit(trail, place, entries);
    }
  }

  *#visit(trail: Trail, place: Place, entries: readonly Entry[]): Steps<void> {
    const { pattern, budget } = this.#options;
    for (const entry of entries) {
      if (this.#isOver()) return;
      if (budget.pauseIsDue()) yield undefined;
      const path = pathIn(place, entry.name);
      if (!pattern.matches(path, entry.type)) continue;
      this.#look(trail, place, entry, path);
      budget.spend(COST.found);
    }
  }

  /** It was told to stop, or has found more than is wanted. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#count > this.#options.spec.maxResults;
  }

  /** Leaves out what has vanished, or become something else, since its folder was listed. */
  #look(trail: Trail, place: Place, entry: Entry, path: string): void {
    try {
      const found = trail.enter(place).brief(entry.raw);
      if (found?.type !== entry.type) return;
      const { size, mtimeMs } = found;
      this.#entries.push({ path: this.#prefix + path, type: entry.type, size, mtimeMs });
      this.#count += 1;
    } catch (error) {
      if (!isSkippable(error)) throw error;
    }
  }

  /** Notes here, after all that was found so far, what others have to do, or that the search broke off. */
  #leave(piece: Stretch | { kind: 'unfinished' }): void {
    this.#flush();
    this.#pieces.push(piece);
  }

  #flush(): void {
    if (this.#entries.length === 0 && this.#skipped === 0) return;
    this.#pieces.push({ kind: 'found', found: { entries: this.#entries, skipped: this.#skipped } });
    this.#entries = [];
    this.#skipped = 0;
  }
}
