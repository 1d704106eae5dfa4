import { type EntryType, type Root, typeOf } from '../../fence/index.ts';
import { compileGlob, type PathPattern } from './glob-pattern.ts';
import { compileRegex } from './line-pattern.ts';
import type { Answers, EntrySpec, FoundEntry } from './messages.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import { START, Trail } from './trail.ts';
import { isSkippable, type Visit, walk } from './walk.ts';

/** Finds entries whose path matches, in path order, as far as it is asked to. */
export class EntryLister implements Disposable {
  readonly #prefix: string;
  readonly #types: ReadonlySet<EntryType>;
  readonly #pattern: PathPattern;
  readonly #trail: Trail;
  readonly #stop: StopFlag;
  readonly #visits: Generator<Visit | undefined, void>;
  #started = false;
  #skipped = 0;

  /** Raises `invalid_pattern`. */
  constructor(root: Root, spec: EntrySpec, stop: StopFlag) {
    this.#prefix = spec.path.segments.map((segment) => `${segment}/`).join('');
    this.#types = new Set(spec.types);
    this.#pattern = spec.glob === undefined ? regexPattern(spec.regex ?? '') : compileGlob(spec.glob);
    this.#stop = stop;
    this.#trail = new Trail(() => root.openDir(spec.path));
    this.#visits = walk({
      trail: this.#trail,
      stop,
      types: this.#types,
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: (path) => this.#pattern.mayMatchBelow(path),
      skipped: () => {
        this.#skipped += 1;
      },
    });
  }

  /** The next entries, fewer once it is through or stopped. The first call raises what is wrong with the start. */
  *next(count: number): Steps<Answers['listEntries']> {
    if (!this.#started) {
      this.#started = true;
      this.#trail.enter(START);
    }
    const entries: FoundEntry[] = [];
    while (entries.length < count) {
      const { value: visit, done } = this.#visits.next();
      if (done) return { entries, done: !this.#stop.raised, skipped: this.#skipped };
      if (visit !== undefined && this.#pattern.matches(visit.path, visit.entry.type)) {
        const entry = this.#look(visit);
        if (entry !== undefined) entries.push(entry);
      }
      yield undefined;
    }
    return { entries, done: false, skipped: this.#skipped };
  }

  [Symbol.dispose](): void {
    this.#trail[Symbol.dispose]();
  }

  /** Undefined if it has vanished, or become something else, since its folder was listed. */
  #look({ place, entry, path }: Visit): FoundEntry | undefined {
    try {
      const stats = this.#trail.enter(place).lstat(entry.raw);
      if (stats === undefined || typeOf(stats) !== entry.type) return undefined;
      return { path: this.#prefix + path, type: entry.type, size: stats.size, modified: stats.mtime };
    } catch (error) {
      if (!isSkippable(error)) throw error;
      return undefined;
    }
  }
}

function regexPattern(source: string): PathPattern {
  const regex = compileRegex(source);
  return { matches: (path) => regex.test(path), mayMatchBelow: () => true };
}
