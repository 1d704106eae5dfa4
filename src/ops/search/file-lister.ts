import { RingfenceError } from '../../errors.ts';
import { type Root, typeOf } from '../../fence/index.ts';
import { BatchBuilder, type FileBatch, THE_START } from './file-batch.ts';
import { compileGlobFilter } from './glob-pattern.ts';
import type { Answers, LineSpec } from './messages.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import { START, Trail } from './trail.ts';
import { type Visit, walk } from './walk.ts';

/** How many files go to a worker at once: enough to outweigh the message, few enough to share the work evenly. */
const BATCH_FILES = 64;

/** Finds the files to search, in path order, as far as it is asked to. */
export class FileLister implements Disposable {
  readonly #root: Root;
  readonly #spec: LineSpec;
  readonly #wanted: (path: string) => boolean;
  readonly #trail: Trail;
  readonly #stop: StopFlag;
  readonly #visits: Generator<Visit | undefined, void>;
  #started = false;
  #skipped = 0;

  /** Raises `invalid_pattern` for the glob filter. */
  constructor(root: Root, spec: LineSpec, stop: StopFlag) {
    this.#root = root;
    this.#spec = spec;
    this.#wanted = spec.globFilter === undefined ? () => true : compileGlobFilter(spec.globFilter);
    this.#stop = stop;
    this.#trail = new Trail(() => root.openDir(spec.path));
    this.#visits = walk({
      trail: this.#trail,
      stop,
      types: new Set(['file']),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: () => true,
      skipped: () => {
        this.#skipped += 1;
      },
    });
  }

  /** The next batches, fewer once it is through or stopped. The first call raises what is wrong with the start. */
  *next(count: number): Steps<Answers['listFiles']> {
    if (!this.#started) {
      this.#started = true;
      if (this.#startsAtFile()) return { batches: this.#justTheStart(), done: true, skipped: 0 };
      this.#trail.enter(START);
    }
    const batches: FileBatch[] = [];
    let builder = new BatchBuilder();
    let done = false;
    while (batches.length < count) {
      const { value: visit, done: over } = this.#visits.next();
      if (over) {
        done = true;
        break;
      }
      if (visit !== undefined && this.#wanted(visit.path)) builder.add(visit.place, visit.entry.raw);
      if (builder.size === BATCH_FILES) {
        batches.push(builder.build());
        builder = new BatchBuilder();
      }
      yield undefined;
    }
    if (builder.size > 0) batches.push(builder.build());
    return { batches, done: done && !this.#stop.raised, skipped: this.#skipped };
  }

  [Symbol.dispose](): void {
    this.#trail[Symbol.dispose]();
  }

  #startsAtFile(): boolean {
    using found = this.#root.locate(this.#spec.path, { follow: true });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    const type = typeOf(found.stats);
    if (type === 'other') throw new RingfenceError('special_file', {});
    return type === 'file';
  }

  #justTheStart(): FileBatch[] {
    const name = this.#spec.path.segments.at(-1) ?? '';
    return this.#wanted(name) ? [THE_START] : [];
  }
}
