import type { Stats } from 'node:fs';
import { checkTree, isFenceError, lockFolder, lockFolders, withLocation } from '../fence/index.ts';
import {
  type Change,
  copyToKeep,
  type DirEntry,
  type EntryState,
  isSameEntry,
  moveEntry,
  OWN_PLACE,
  type PendingStep,
  stepKey,
  textToName,
} from '../history/index.ts';
import { cutFile, extendFile } from './change-in-place.ts';
import { UndoError } from './errors.ts';
import { openFolder } from './past/open-folder.ts';
import { NOT_MADE_YET, splitPath } from './past/past-tree.ts';
import type { UndoAction, UndoPlan } from './plan/undo-plan.ts';
import { PreparedCuts } from './prepared-cuts.ts';

/** How many actions are logged ahead, so that they need only one flush of the log. */
const BATCH = 256;

/** How a run is carried out. */
export interface RunOptions {
  readonly durable: boolean;
  /** Yields to other work if the time slice is over. */
  pause(): Promise<void> | undefined;
}

/** Carries out the actions of a plan, one after another, as steps of one change. */
export class UndoRun {
  readonly #plan: UndoPlan;
  readonly #change: Change;
  readonly #options: RunOptions;
  /** The folders whose entries were changed, by their paths at that time. */
  readonly #folders = new Set<string>();
  /** The kept places that something was taken from or put to. */
  readonly #places = new Set<string>();
  #done = 0;

  constructor(plan: UndoPlan, change: Change, options: RunOptions) {
    this.#plan = plan;
    this.#change = change;
    this.#options = options;
  }

  /** The actions that have not been carried out. */
  get left(): readonly UndoAction[] {
    return this.#plan.actions.slice(this.#done);
  }

  /** Carries out all actions. After a failure, `left` says which have not happened. */
  async run(): Promise<void> {
    while (this.#done < this.#plan.actions.length) await this.#runBatch();
    if (this.#options.durable) await this.#flush();
  }

  async #runBatch(): Promise<void> {
    const { history, root } = this.#plan;
    using cuts = new PreparedCuts(history, root);
    const batch: { readonly action: UndoAction; readonly step: PendingStep }[] = [];
    let begun: PendingStep | undefined;
    try {
      for (const action of this.left.slice(0, BATCH)) {
        const isCut = action.effect === 'cut' || action.effect === 'extend';
        const mtimeNs = isCut ? cuts.mtimeNs(action) : undefined;
        // The file is not where it will be: what is logged so far has to happen first.
        if (isCut && mtimeNs === undefined && batch.length > 0) break;
        const step = this.#begin(action, mtimeNs);
        batch.push({ action, step });
        if (action.effect === 'cut' && step.kept !== undefined) cuts.keepTail(action, step.kept);
      }
      if (this.#options.durable) await Promise.all([history.log.flush(), cuts.flush()]);
      while (batch.length > 0) {
        const { action, step } = batch[0] as (typeof batch)[number];
        const wait = this.#options.pause();
        if (wait !== undefined) await wait;
        begun = step;
        await withLocation(root, { raw: action.path }, () => this.#perform(action, step));
        batch.shift();
        begun = undefined;
        this.#done += 1;
      }
    } catch (error) {
      for (const { step } of batch)
        if (step === begun) step.cancel();
        else step.skip();
      throw error;
    }
  }

  #begin(action: UndoAction, mtimeNs: bigint | undefined): PendingStep {
    const { effect, undoes, completes, path, to, before, after, from } = action;
    const keep = this.#placeFor(action);
    const key = completes ? { undoes: stepKey(undoes) } : {};
    switch (effect) {
      case 'restore':
      case 'revert':
        return this.#change.beginUndo({ kind: 'put', path, before, after, from, ...key }, keep);
      case 'make':
        return this.#change.beginUndo({ kind: 'make', path, ...key }, undefined);
      case 'remove': {
        const kind = undoes.kind === 'make' && completes ? 'unmake' : 'remove';
        return this.#change.beginUndo({ kind, path, before, ...key }, keep);
      }
      case 'move':
        return this.#change.beginUndo({ kind: 'move', path, to, before, ...key }, undefined);
      case 'cut':
      case 'extend': {
        const kind = effect === 'cut' ? 'truncate' : 'append';
        const fields = { kind, path, before, after, from, mtimeNs: String(mtimeNs), ...key } as const;
        return this.#change.beginUndo(fields, keep);
      }
    }
  }

  /** Returns the planned place for what an action replaces, unless that has expired since. */
  #placeFor({ keep }: UndoAction): string | undefined {
    const isGone = keep !== undefined && keep !== OWN_PLACE && !this.#plan.history.kept.hasFolderOf(keep);
    return isGone ? OWN_PLACE : keep;
  }

  /** Carries out an action while its folders are locked, if everything is as it was planned. */
  async #perform(action: UndoAction, step: PendingStep): Promise<void> {
    const [folder, text] = splitPath(action.path);
    using dir = openFolder(this.#plan.root, folder);
    const at = { dir, name: textToName(text) };
    this.#folders.add(folder);
    for (const place of [action.from, step.kept]) if (place !== undefined) this.#places.add(place);
    if (action.effect === 'move') {
      await this.#move(action, at, step);
      return;
    }
    using _lock = await lockFolder(dir);
    const beforeCtimeMs = this.#assertAsPlanned(action, at);
    const fromCtimeMs = action.from === undefined ? undefined : this.#plan.history.kept.lstat(action.from)?.ctimeMs;
    await this.#carryOut(action, at, step);
    step.done(dir.lstat(at.name), { beforeCtimeMs, fromCtimeMs });
  }

  async #carryOut(action: UndoAction, at: DirEntry, step: PendingStep): Promise<void> {
    switch (action.effect) {
      case 'restore':
      case 'revert':
        await this.#bring(action, at, step);
        break;
      case 'make':
        this.#make(action, at);
        break;
      case 'remove':
        await this.#take(action, at, step);
        break;
      case 'cut':
        cutFile(action, at);
        break;
      case 'extend':
        extendFile(action, at, this.#plan.history);
    }
  }

  async #move(action: UndoAction, from: DirEntry, step: PendingStep): Promise<void> {
    const [folder, text] = splitPath(action.to ?? '');
    using dir = openFolder(this.#plan.root, folder);
    const to = { dir, name: textToName(text) };
    this.#folders.add(folder);
    using _lock = await lockFolders(from.dir, dir);
    const beforeCtimeMs = this.#assertAsPlanned(action, from);
    await this.#rename(action, from, to);
    step.done(dir.lstat(to.name), { beforeCtimeMs });
  }

  /** Raises `undo_conflict` if an entry is not as the plan expects it, and returns when its status last changed. */
  #assertAsPlanned(action: UndoAction, { dir, name }: DirEntry): number | undefined {
    const now = dir.lstat(name);
    if (!isAsPlanned(action.before, now)) throw this.#conflict(action);
    return now?.ctimeMs;
  }

  /** Moves a kept entry to its path. What is there is kept by a link first. */
  async #bring(action: UndoAction, at: DirEntry, step: PendingStep): Promise<void> {
    const { kept } = this.#plan.history;
    using from = kept.open(action.from ?? '');
    const source = from.dir.lstat(from.name);
    if (source === undefined || !isAsPlanned(action.after, source)) throw this.#conflict(action);
    if (action.before === undefined) {
      await this.#rename(action, from, at);
      return;
    }
    at.dir.assertMayPut(at.name);
    if (step.kept !== undefined) await this.#keep(at, step.kept);
    try {
      // rename(2) does nothing if both names are links to the same file.
      if (source.ino === at.dir.lstat(at.name)?.ino) from.dir.unlink(from.name);
      else from.dir.rename(from.name, at.dir, at.name);
    } catch (error) {
      if (step.kept !== undefined) kept.discard(step.kept);
      throw error;
    }
  }

  /** Keeps what is replaced. After a failure, there is nothing at the place that was not there before. */
  async #keep(at: DirEntry, place: string): Promise<void> {
    const { kept } = this.#plan.history;
    if (kept.link(at, place)) return;
    using to = kept.open(place);
    try {
      await copyToKeep(at, to);
    } catch (error) {
      if (!isFenceError(error, 'already_exists')) kept.discard(place);
      throw error;
    }
  }

  /** Moves an entry to what is kept. */
  async #take(action: UndoAction, at: DirEntry, step: PendingStep): Promise<void> {
    using place = this.#plan.history.kept.open(step.kept ?? '');
    await this.#rename(action, at, place);
    if (step.step.kind !== 'unmake' || action.forced) return;
    using folder = place.dir.openDir(place.name);
    if (folder.list().length === 0) return;
    // Another program has put something there in the same moment.
    await this.#rename(action, place, at);
    throw this.#conflict(action);
  }

  /** Renames an entry, if nothing is in the way. */
  async #rename(action: UndoAction, from: DirEntry, to: DirEntry): Promise<void> {
    const isFolder = action.before?.type === 'directory' || action.after?.type === 'directory';
    using checked =
      isFolder && (from.dir.hasRules || to.dir.hasRules) ? await this.#check(action, from, to) : undefined;
    try {
      moveEntry(from, to, checked);
    } catch (error) {
      throw isFenceError(error, 'already_exists', 'not_empty') ? this.#conflict(action) : error;
    }
  }

  #check(action: UndoAction, from: DirEntry, to: DirEntry): ReturnType<typeof checkTree> {
    const { root } = this.#plan;
    const location = { root, path: { raw: action.path } };
    return checkTree(from, { from: location, to, pause: () => this.#options.pause() });
  }

  #make({ after }: UndoAction, { dir, name }: DirEntry): void {
    dir.mkdir(name, 0o700);
    if (after === undefined) return;
    dir.chmod(name, after.mode);
    dir.setMtime(name, BigInt(Math.round(after.mtimeMs * 1e6)));
  }

  #conflict({ path, undoes: { change } }: UndoAction): UndoError {
    const conflicts = [{ reason: 'changed_since', path, change, newer: undefined }] as const;
    return new UndoError('undo_conflict', { conflicts }, { root: this.#plan.root.name });
  }

  /** Flushes everything to disk: at once where the system can, then folder by folder, since some do less for that. */
  async #flush(): Promise<void> {
    const { history, root } = this.#plan;
    await history.root.top.syncFilesystem();
    await Promise.all([history.log.flush(), history.kept.flush([...this.#places])]);
    for (const path of this.#folders) {
      try {
        using dir = openFolder(root, path);
        await dir.sync();
      } catch (error) {
        // It was removed or moved by a later action.
        if (!isFenceError(error, 'not_found', 'not_directory')) throw error;
      }
    }
  }
}

function isAsPlanned(planned: EntryState | undefined, now: Stats | undefined): boolean {
  if (planned?.type === 'directory' && planned.ino === NOT_MADE_YET) return now?.isDirectory() === true;
  return isSameEntry(planned, now);
}
