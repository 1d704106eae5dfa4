import type { Stats } from 'node:fs';
import { FenceError, temporaryName } from '../fence/index.ts';
import type { Caller } from '../runtime/operation-context.ts';
import { copyToKeep } from './copy-to-keep.ts';
import { HistoryError } from './errors.ts';
import { type DirEntry, placeName } from './kept-entries.ts';
import { type EntryState, isSameEntry, type Step, stateOf, stepKey } from './step.ts';
import type { HistoryStore } from './store.ts';

/** What a step says besides who makes it. */
export type StepFields = Omit<Step, 'change' | 'number' | 'time' | 'caller' | 'process' | 'kept' | 'unkept'>;

/** An entry of a root: in an open folder, and by its path from the top of the root. */
export interface RootEntry extends DirEntry {
  readonly path: string;
}

/** How often it is tried to keep an entry that other programs keep replacing. */
const MAX_ATTEMPTS = 20;

/** A temporary name of this process, made when it is needed. */
let ownName: string | undefined;

/** All that one call does in one root. Its steps are logged before they happen. */
export class Change {
  readonly id: string;
  readonly #store: HistoryStore;
  readonly #caller: Caller;
  #steps = 0;
  #unkept = 0;

  constructor(store: HistoryStore, id: string, caller: Caller) {
    this.id = id;
    this.#store = store;
    this.#caller = caller;
  }

  /** Whether anything has been logged. */
  get hasSteps(): boolean {
    return this.#steps > 0;
  }

  /** How many entries were replaced or removed without being kept, because they are too large. */
  get unkept(): number {
    return this.#unkept;
  }

  /**
   * Logs a step, and names a place for what it replaces or removes, if that is to be kept. The caller puts it there.
   * Raises `too_large_to_keep`.
   */
  begin(fields: StepFields, toKeep?: EntryState): PendingStep {
    const { log, options } = this.#store;
    const isTooLarge = toKeep?.type === 'file' && toKeep.size > options.maxBytes;
    if (isTooLarge && options.over === 'refuse')
      throw new HistoryError('too_large_to_keep', { size: toKeep.size, limit: options.maxBytes });
    if (isTooLarge) this.#unkept += 1;
    const segment = log.current();
    const number = this.#steps++;
    ownName ??= temporaryName();
    const step: Step = {
      change: this.id,
      number,
      time: Date.now(),
      caller: this.#caller,
      process: ownName,
      ...fields,
      ...(isTooLarge && { unkept: 'too_large' }),
      ...(toKeep !== undefined && !isTooLarge && { kept: placeName(segment, `${this.id}-${number}`) }),
    };
    log.append(step);
    return new PendingStep(this.#store, step);
  }

  /**
   * Logs that an entry is about to be made or replaced, and keeps what is there. The caller then replaces it, if it is
   * still what was kept: see `PendingStep.fits`.
   */
  async put(at: RootEntry, after: Stats | undefined): Promise<PendingStep> {
    for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
      const stats = at.dir.lstat(at.name);
      const before = stats && stateOf(stats);
      const step = this.begin({ kind: 'put', path: at.path, before, after: after && stateOf(after) }, before);
      if (step.kept === undefined || (await this.#keep(at, step.kept, before))) return step;
      step.cancel();
    }
    throw new FenceError('busy', {});
  }

  /** Keeps an entry that will be replaced. False if it is another one by now. */
  async #keep(at: RootEntry, place: string, before: EntryState | undefined): Promise<boolean> {
    const { kept } = this.#store;
    if (!kept.link(at, place)) {
      if (!isSameEntry(before, at.dir.lstat(at.name))) return false;
      using to = kept.open(place);
      await copyToKeep(at, to);
    }
    return true;
  }
}

/** A step that is logged. Call `done` once it has happened, or `cancel`. */
export class PendingStep {
  readonly #store: HistoryStore;
  readonly step: Step;

  constructor(store: HistoryStore, step: Step) {
    this.#store = store;
    this.step = step;
  }

  /** The place for what is replaced or removed. Undefined if nothing is kept. */
  get kept(): string | undefined {
    return this.step.kept;
  }

  /** Reports whether an entry is the one that the step was logged for. */
  fits(now: Stats | undefined): boolean {
    return isSameEntry(this.step.before, now);
  }

  /** Flushes to disk what the history has to know before the step happens. */
  async flush(): Promise<void> {
    const { log, kept } = this.#store;
    await Promise.all([log.flush(), this.kept && kept.flush()]);
  }

  /** Notes that the step has happened, and what is there now. */
  done(after?: Stats): void {
    const { log, kept } = this.#store;
    const keptCtimeMs = this.kept && kept.lstat(this.kept)?.ctimeMs;
    log.mark({
      done: stepKey(this.step),
      ...(after && { after: stateOf(after) }),
      ...(keptCtimeMs && { keptCtimeMs }),
    });
  }

  /** Notes that the step has not happened, and lets go of what was kept for it. */
  cancel(): void {
    const { log, kept } = this.#store;
    if (this.kept !== undefined) kept.discard(this.kept);
    log.mark({ cancelled: stepKey(this.step) });
  }
}
