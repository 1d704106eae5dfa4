import type { Stats } from 'node:fs';
import { type CheckedTree, FenceError, isFenceError, type OpenFile, temporaryName } from '../fence/index.ts';
import type { Caller } from '../runtime/operation-context.ts';
import { copyToKeep } from './copy-to-keep.ts';
import { HistoryError } from './errors.ts';
import { type DirEntry, hasOwnPlace, type KeptPlace, placeName } from './kept-entries.ts';
import {
  type DoneMark,
  type EntryState,
  isSameEntry,
  type Step,
  stateOf,
  stepKey,
  type TimeChange,
} from './log/step.ts';
import { moveEntry } from './move-entry.ts';
import type { HistoryStore } from './store.ts';

/** What a step says besides who makes it. */
export type StepFields = Omit<Step, 'change' | 'number' | 'time' | 'caller' | 'process' | 'kept' | 'unkept'>;

/** An entry of a root: in an open folder, and by its path from the top of the root. */
export interface RootEntry extends DirEntry {
  readonly path: string;
}

/** How `Change.remove` removes an entry. */
export interface RemoveOptions {
  /** Flush the record to disk before, and the kept entry after. The caller flushes the folder of the entry. */
  readonly durable: boolean;
  /** Proves for a folder that it may be moved to its place. */
  check?(place: DirEntry): Promise<CheckedTree>;
  /** Removes a file or link that could not be moved. */
  discard(): void;
}

/** How often it is tried to keep an entry that other programs keep replacing. */
const MAX_ATTEMPTS = 20;

/** Stands for the place that belongs to a step itself. */
export const OWN_PLACE = 'own';

/** A temporary name of this process, made when it is needed. */
let ownName: string | undefined;

/** All that one call does in one root. Its steps are logged before they happen. */
export class Change {
  readonly id: string;
  readonly #store: HistoryStore;
  readonly #caller: Caller;
  #steps = 0;
  #cancelled = 0;
  #unkept = 0;

  constructor(store: HistoryStore, id: string, caller: Caller) {
    this.id = id;
    this.#store = store;
    this.#caller = caller;
  }

  /** Whether anything has been logged that was not given up. */
  get hasSteps(): boolean {
    return this.#steps > this.#cancelled;
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
    const { options } = this.#store;
    const isTooLarge = toKeep?.type === 'file' && toKeep.size > options.maxBytes;
    if (isTooLarge && options.over === 'refuse')
      throw new HistoryError('too_large_to_keep', { size: toKeep.size, limit: options.maxBytes });
    if (isTooLarge) {
      this.#unkept += 1;
      this.#store.notify({ kind: 'unkept', path: fields.path, bytes: toKeep.size });
    }
    return this.#log(fields, toKeep !== undefined && !isTooLarge ? OWN_PLACE : undefined, isTooLarge);
  }

  /**
   * Logs a step that takes back another one. What it replaces goes to the place `keep`, or to one of its own, whatever
   * its size: an undo can always be undone.
   */
  beginUndo(fields: StepFields, keep: string | typeof OWN_PLACE | undefined): PendingStep {
    return this.#log(fields, keep, false);
  }

  #log(fields: StepFields, keep: string | undefined, isTooLarge: boolean): PendingStep {
    const { log } = this.#store;
    const replaced = fields.kind === 'move' ? fields.replaced : fields.before;
    const segment = log.current(keep === OWN_PLACE && replaced?.type === 'file' ? replaced.size : 0);
    const number = this.#steps++;
    ownName ??= temporaryName();
    const kept = keep === OWN_PLACE ? placeName(segment, { change: this.id, number }) : keep;
    const step: Step = {
      change: this.id,
      number,
      time: Date.now(),
      caller: this.#caller,
      process: ownName,
      ...fields,
      ...(isTooLarge && { unkept: 'too_large' }),
      ...(kept !== undefined && { kept }),
    };
    log.append(step);
    return new PendingStep(this.#store, step, () => {
      this.#cancelled += 1;
      if (isTooLarge) this.#unkept -= 1;
    });
  }

  /**
   * Logs that an entry is about to be made or replaced, and keeps the file or link that is there. The caller then
   * replaces it, if it is still what was kept: see `PendingStep.fits`.
   */
  put(at: RootEntry, after: Stats): Promise<PendingStep> {
    return this.#keeping(at, (there, toKeep) =>
      this.begin({ kind: 'put', path: at.path, before: there, after: stateOf(after) }, toKeep),
    );
  }

  /** Logs that an entry is about to be moved within the root, and keeps the file or link that it will replace. */
  move(from: RootEntry, to: RootEntry): Promise<PendingStep> {
    const moved = from.dir.lstat(from.name);
    const fields = { kind: 'move', path: from.path, to: to.path, before: moved && stateOf(moved) } as const;
    return this.#keeping(to, (there, toKeep) => this.begin({ ...fields, replaced: there }, toKeep));
  }

  /** Logs that an open file is about to be appended to. */
  append(path: string, file: OpenFile): PendingStep {
    return this.begin({ kind: 'append', path, before: stateOf(file.stats), mtimeNs: String(file.mtimeNs()) });
  }

  /** Logs that a folder is about to be made. For `Root.locate`, which makes folders on the way to an entry. */
  readonly onMake = (path: string): PendingStep => this.begin({ kind: 'make', path });

  /**
   * Removes an entry by moving it to what is kept, a folder with everything in it. The caller holds the lock of its
   * folder. A file that cannot be moved there is copied, and one that is too large is not kept at all; then `discard`
   * removes it. False, with nothing done, for a folder on another file system, which has to be removed entry by entry.
   */
  async remove(at: RootEntry, { durable, check, discard }: RemoveOptions): Promise<boolean> {
    const stats = at.dir.lstat(at.name);
    if (stats === undefined) throw new FenceError('not_found', {});
    const before = stateOf(stats);
    const step = this.begin({ kind: 'remove', path: at.path, before }, before);
    using place = this.#placeOf(step);
    try {
      using checked = place && (await check?.(place));
      if (durable) await step.flush();
      if (place === undefined) discard();
      else if (!renameOnDevice(at, place, checked)) {
        if (stats.isDirectory()) {
          step.cancel();
          return false;
        }
        await this.#copy(at, place);
        discard();
      }
    } catch (error) {
      step.cancel();
      throw error;
    }
    step.done();
    // The new name first, so that there is no moment at which the disk has neither.
    if (durable && step.kept !== undefined) await this.#store.kept.flush([step.kept]);
    return true;
  }

  /** Opens the place for what a step keeps, or cancels the step. */
  #placeOf(step: PendingStep): KeptPlace | undefined {
    try {
      return step.kept === undefined ? undefined : this.#store.kept.open(step.kept);
    } catch (error) {
      step.cancel();
      throw error;
    }
  }

  /** Logs that an empty folder is about to be removed, which is then made again by an undo. */
  unmake(at: RootEntry): PendingStep {
    const stats = at.dir.lstat(at.name);
    return this.begin({ kind: 'unmake', path: at.path, before: stats && stateOf(stats) });
  }

  /** Keeps what is at an entry that will be replaced, as the step that `begin` logs for it says. */
  async #keeping(
    at: RootEntry,
    begin: (there: EntryState | undefined, toKeep: EntryState | undefined) => PendingStep,
  ): Promise<PendingStep> {
    for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
      const stats = at.dir.lstat(at.name);
      const there = stats && stateOf(stats);
      // Only an empty folder can be replaced, and an undo makes it again.
      const step = begin(there, there?.type === 'directory' ? undefined : there);
      if (stats === undefined || step.kept === undefined) return step;
      try {
        const kept = await this.#keep(at, step.kept, stats);
        if (kept === 'linked') step.linked = { before: stats, after: this.#store.kept.lstat(step.kept) };
        if (kept !== undefined) return step;
      } catch (error) {
        step.cancel();
        throw error;
      }
      step.cancel();
    }
    throw new FenceError('busy', {});
  }

  /** Keeps an entry that will be replaced. Undefined if it is another one by now. */
  async #keep(at: RootEntry, place: string, there: Stats): Promise<'linked' | 'copied' | undefined> {
    const { kept } = this.#store;
    if (kept.link(at, place)) return isSameEntry(stateOf(there), kept.lstat(place)) ? 'linked' : undefined;
    if (!isSameEntry(stateOf(there), at.dir.lstat(at.name))) return undefined;
    using to = kept.open(place);
    await this.#copy(at, to);
    return 'copied';
  }

  #copy(at: RootEntry, to: DirEntry): Promise<void> {
    this.#store.notify({ kind: 'copied', path: at.path });
    return copyToKeep(at, to);
  }
}

/** Moves an entry to a place, and reports whether that is on the same file system. */
function renameOnDevice(at: DirEntry, place: DirEntry, checked: CheckedTree | undefined): boolean {
  try {
    moveEntry(at, place, checked);
    return true;
  } catch (error) {
    if (isFenceError(error, 'io_error') && error.details.errno === 'EXDEV') return false;
    throw error;
  }
}

/** A step that is logged. Call `done` once it has happened, or `cancel`. */
export class PendingStep {
  readonly #store: HistoryStore;
  readonly step: Step;
  readonly #onCancel: () => void;
  /** The status of the entry before and after it was kept by a link, which changes it. @internal */
  linked: { readonly before: Stats; readonly after: Stats | undefined } | undefined;

  constructor(store: HistoryStore, step: Step, onCancel: () => void) {
    this.#store = store;
    this.step = step;
    this.#onCancel = onCancel;
  }

  /** The place for what is replaced or removed. Undefined if nothing is kept. */
  get kept(): string | undefined {
    return this.step.kept;
  }

  /** Reports whether the entry that is to be replaced is still the one that the step was logged for. */
  fits(now: Stats | undefined): boolean {
    return isSameEntry(this.step.kind === 'move' ? this.step.replaced : this.step.before, now);
  }

  /** Returns the status of the entry as it was before it was kept, unless something else has happened to it since. */
  beforeLink(now: Stats | undefined): Stats | undefined {
    const { before, after } = this.linked ?? {};
    return now !== undefined && now.ino === after?.ino && now.ctimeMs === after.ctimeMs ? before : now;
  }

  /** Flushes to disk what the history has to know before the step happens. */
  async flush(): Promise<void> {
    const { log, kept } = this.#store;
    await Promise.all([log.flush(), this.kept && kept.flush([this.kept])]);
  }

  /** Notes that the step has happened, and what is there now. `times` are of what was there just before. */
  done(after?: Stats, times: Pick<DoneMark, 'beforeCtimeMs' | 'fromCtimeMs'> = {}): void {
    const { log, kept } = this.#store;
    const keptCtimeMs = this.kept && kept.lstat(this.kept)?.ctimeMs;
    log.mark({
      done: stepKey(this.step),
      ...(after && { after: stateOf(after) }),
      ...(keptCtimeMs && { keptCtimeMs }),
      ...times,
    });
  }

  /** Notes that the step was not even begun: nothing was kept for it, and its place may still hold something else. */
  skip(): void {
    this.#store.log.mark({ cancelled: stepKey(this.step) });
  }

  /**
   * Notes that the step has not happened, and lets go of what was kept for it, if that is at a place of its own: at that
   * of another step may be what the other step has kept.
   */
  cancel(): void {
    const { log, kept } = this.#store;
    this.#onCancel();
    const { before, after } = this.linked ?? {};
    const ctimes: TimeChange[] = before && after ? [{ ino: after.ino, from: before.ctimeMs, to: after.ctimeMs }] : [];
    try {
      const freed = this.kept !== undefined && hasOwnPlace(this.step) ? kept.discard(this.kept) : undefined;
      if (freed) ctimes.push(freed);
    } finally {
      log.mark({ cancelled: stepKey(this.step), ...(ctimes.length > 0 && { ctimes }) });
    }
  }
}
