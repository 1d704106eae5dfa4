import { RingfenceError } from '../../errors.ts';
import type { FileBatch } from './file-batch.ts';
import { type LineMatch, type MatchLimits, textOf } from './match-list.ts';
import type { Answers, BatchResult } from './messages.ts';
import type { Search } from './pool.ts';

/** A second task lies ready at each worker, so that none waits for a message. */
const TASKS_PER_WORKER = 2;
const LISTED_AHEAD_PER_WORKER = 8;

/** How many batches may be through while an earlier one, with a huge file, is not. */
const MAX_AHEAD = 4096;

interface LineSearchOptions extends MatchLimits {
  readonly workers: number;
  /** Told how many files are done. */
  progress(files: number): void;
}

/** Why a search ended: it saw everything, there was more than may be returned, or it was told to stop. */
type Outcome = 'complete' | 'full' | 'stopped';

/**
 * Runs one search for lines on the pool: one worker lists files, all search batches of them, and here the results are
 * put together in path order. However the work falls among the workers, the outcome is a prefix of the same list.
 */
export class LineSearch {
  readonly matches: LineMatch[] = [];
  /** Files that were searched, that matched, and files and folders that could not be read. */
  readonly counts = { searched: 0, matched: 0, skipped: 0 };

  readonly #search: Search;
  readonly #options: LineSearchOptions;
  readonly #listed: FileBatch[] = [];
  #listing = false;
  #allListed = false;
  #skippedFolders = 0;

  #started = 0;
  #merged = 0;
  /** Results that wait for an earlier batch. */
  readonly #waiting = new Map<number, BatchResult>();
  #waitingText = 0;
  #text = 0;

  #tasks = 0;
  #outcome: Outcome | undefined;
  #error: unknown;
  #end: () => void = () => {};

  constructor(search: Search, options: LineSearchOptions) {
    this.#search = search;
    this.#options = options;
  }

  /** Returns when no task of it is left. Raises what a task raises, and `result_too_large` if not even one match fits. */
  run(): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#end = () => {
        this.counts.skipped += this.#skippedFolders;
        if (this.#error !== undefined) reject(this.#error);
        else resolve(this.#outcome ?? (this.#isComplete() ? 'complete' : 'stopped'));
      };
      this.#advance();
    });
  }

  #isComplete(): boolean {
    return this.#allListed && this.#listed.length === 0 && this.#merged === this.#started;
  }

  #advance(): void {
    if (this.#outcome === undefined && !this.#search.stopped) this.#startTasks();
    if (this.#tasks === 0) this.#end();
  }

  #startTasks(): void {
    const { workers } = this.#options;
    const ahead = LISTED_AHEAD_PER_WORKER * workers;
    if (!this.#allListed && !this.#listing && this.#listed.length < ahead / 2) {
      this.#listing = true;
      // Little at first: the first files may be all it takes.
      const batches = this.#started === 0 ? workers : ahead;
      this.#await(this.#search.run({ type: 'listFiles', batches }), (answer) => this.#addListed(answer));
    }
    while (this.#hasRoom()) {
      const batch = this.#listed.shift();
      if (batch === undefined) return;
      const number = this.#started;
      this.#started += 1;
      this.#await(this.#search.run({ type: 'searchFiles', batch }), (result) => this.#addResult(number, result));
    }
  }

  #hasRoom(): boolean {
    const running = this.#started - this.#merged - this.#waiting.size;
    if (running >= TASKS_PER_WORKER * this.#options.workers) return false;
    return this.#waiting.size < MAX_AHEAD && this.#waitingText <= this.#options.maxText;
  }

  #await<T>(answer: Promise<T>, take: (answer: T) => void): void {
    this.#tasks += 1;
    answer
      .then(take)
      .catch((error: unknown) => {
        this.#error ??= error;
        this.#stop('stopped');
      })
      .finally(() => {
        this.#tasks -= 1;
        this.#advance();
      });
  }

  #addListed({ batches, done, skipped }: Answers['listFiles']): void {
    this.#listing = false;
    this.#allListed = done;
    this.#skippedFolders = skipped;
    this.#listed.push(...batches);
  }

  #addResult(number: number, result: BatchResult): void {
    this.#waiting.set(number, result);
    this.#waitingText += result.text;
    for (;;) {
      const next = this.#waiting.get(this.#merged);
      if (next === undefined || this.#outcome !== undefined) return;
      this.#waiting.delete(this.#merged);
      this.#waitingText -= next.text;
      this.#merge(next);
    }
  }

  #merge(result: BatchResult): void {
    this.counts.searched += result.searched;
    this.counts.matched += result.matched;
    this.counts.skipped += result.skipped;
    for (const match of result.matches) {
      if (!this.#fits(match)) {
        this.#stop('full');
        return;
      }
      this.matches.push(match);
    }
    if (result.complete) this.#merged += 1;
    else this.#stop('stopped');
    this.#options.progress(this.counts.searched + this.counts.skipped);
  }

  #fits(match: LineMatch): boolean {
    const { maxResults, maxText } = this.#options;
    if (this.matches.length >= maxResults) return false;
    const size = textOf(match);
    if (size > maxText && this.matches.length === 0)
      throw new RingfenceError('result_too_large', { size, limit: maxText });
    this.#text += size;
    return this.#text <= maxText;
  }

  #stop(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#search.stop();
  }
}
