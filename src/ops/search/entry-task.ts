import type { Entry, EntryType, Root } from '../../fence/index.ts';
import { Budget } from './budget.ts';
import type { PathPattern } from './glob-pattern.ts';
import type { EntrySpec } from './messages.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import type { Piece, Stretch } from './stretch.ts';
import { type Place, pathIn, START, Trail } from './trail.ts';
import { isSkippable, walk } from './walk.ts';

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
  readonly budget: number;
}

/** Looks for entries in one stretch. */
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

  /** Raises what is wrong with the start if the stretch begins there. */
  *run(stretch: Stretch): Steps<Piece<FoundEntries>[]> {
    const { root, spec, pattern } = this.#options;
    if (stretch.kind !== 'start' && stretch.kind !== 'folder')
      throw new Error(`${stretch.kind} in a search for entries`);
    const from = stretch.kind === 'start' ? START : stretch.place;
    using trail = new Trail(() => root.openDir(spec.path));
    trail.enter(START);
    const visits = walk(from, {
      trail,
      budget: new Budget(this.#options.budget),
      types: new Set(spec.types),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: (path) => pattern.mayMatchBelow(path),
      skipped: () => {
        this.#skipped += 1;
      },
    });
    for (const { place, entries } of visits) {
      if (entries === undefined) {
        this.#flush();
        this.#pieces.push({ kind: 'folder', place });
      } else if (!(yield* this.#visit(trail, place, entries))) {
        this.#flush();
        this.#pieces.push({ kind: 'unfinished' });
        break;
      }
    }
    this.#flush();
    return this.#pieces;
  }

  /** False if it was told to stop or has found more than is wanted. */
  *#visit(trail: Trail, place: Place, entries: readonly Entry[]): Steps<boolean> {
    const { spec, pattern, stop } = this.#options;
    for (const entry of entries) {
      if (stop.raised || this.#count > spec.maxResults) return false;
      const path = pathIn(place, entry.name);
      if (!pattern.matches(path, entry.type)) continue;
      this.#look(trail, place, entry, path);
      yield undefined;
    }
    yield undefined;
    return true;
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

  #flush(): void {
    if (this.#entries.length === 0 && this.#skipped === 0) return;
    this.#pieces.push({ kind: 'found', found: { entries: this.#entries, skipped: this.#skipped } });
    this.#entries = [];
    this.#skipped = 0;
  }
}
