import type { Root } from '../../fence/index.ts';
import { searchBatch } from './batch-search.ts';
import { EntryLister } from './entry-lister.ts';
import { FileLister } from './file-lister.ts';
import { compileLinePattern, type LinePattern } from './line-pattern.ts';
import type { Answers, LineSpec, SearchSpec, Task } from './messages.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';

interface SessionOptions {
  readonly root: Root;
  readonly spec: SearchSpec;
  readonly stop: StopFlag;
  readonly buffers: Buffer[];
}

/** One search as one worker sees it: what was compiled for it, and how far the listing has come if it is done here. */
export class Session implements Disposable {
  readonly #options: SessionOptions;
  #pattern: LinePattern | undefined;
  #files: FileLister | undefined;
  #entries: EntryLister | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  *run(task: Task): Steps<Answers[keyof Answers]> {
    const { root, spec, stop, buffers } = this.#options;
    if (spec.kind === 'entries') {
      if (task.type !== 'listEntries') throw new Error(`${task.type} in a search for entries`);
      this.#entries ??= new EntryLister(root, spec, stop);
      return yield* this.#entries.next(task.entries);
    }
    // Compiled before anything is listed, so that a wrong pattern is told of even where there are no files.
    const pattern = this.#compiled(spec);
    if (task.type === 'searchFiles') return yield* searchBatch({ root, spec, pattern, stop, buffers }, task.batch);
    if (task.type !== 'listFiles') throw new Error(`${task.type} in a search for lines`);
    this.#files ??= new FileLister(root, spec, stop);
    return yield* this.#files.next(task.batches);
  }

  [Symbol.dispose](): void {
    this.#files?.[Symbol.dispose]();
    this.#entries?.[Symbol.dispose]();
  }

  #compiled(spec: LineSpec): LinePattern {
    this.#pattern ??= compileLinePattern(spec);
    return this.#pattern;
  }
}
