import type { Root } from '../../fence/index.ts';
import {
  type EntryState,
  type History,
  isAtOrBelow,
  isSameEntry,
  OWN_PLACE,
  type PastStep,
} from '../../history/index.ts';
import type { PastNode } from '../past/past-node.ts';
import { NOT_MADE_YET, namesOf, PastTree, splitPath, stateOfNode } from '../past/past-tree.ts';
import type { Conflict, ConflictReason } from './conflict.ts';
import { KeptCheck } from './kept-check.ts';
import { NewerSteps } from './newer-steps.ts';
import { RemadeFolders } from './remade-folders.ts';
import type { UndoAction, UndoEffect } from './undo-plan.ts';

/** Where an undone step takes from. */
interface Source {
  readonly place: string;
  readonly node: PastNode;
}

type Details = Partial<Pick<UndoAction, 'to' | 'before' | 'after' | 'from' | 'keep' | 'completes'>>;

/** Plans to take steps back, one at a time, on a copy of the tree in memory. */
export class UndoPlanner {
  readonly actions: UndoAction[] = [];
  readonly conflicts: Conflict[] = [];
  readonly kept: KeptCheck;
  readonly #history: History;
  readonly #root: Root;
  readonly #tree: PastTree;
  /** What stays, newer than what is planned to be taken back. */
  readonly #newer = new NewerSteps();
  readonly #remade = new RemadeFolders();
  #step!: PastStep;
  #conflicting = false;

  constructor(history: History, root: Root) {
    this.#history = history;
    this.#root = root;
    this.#tree = new PastTree(history);
    this.kept = new KeptCheck(this.#tree);
  }

  /** Passes over a step that stays. */
  pass(past: PastStep): void {
    this.#newer.add(past);
    this.#remade.add(past);
  }

  /** Passes over a step that was undone by one that stays. */
  passUndone(past: PastStep): void {
    this.#newer.forget(past.key);
    this.#remade.addUndone(past);
  }

  /** Plans to take a step back. Call it for steps from the newest on. */
  undo(past: PastStep): void {
    this.#step = past;
    this.#conflicting = false;
    if (this.#plan(past)) this.#tree.rewind(past);
  }

  /** Returns false if the step has to be left out. */
  #plan(past: PastStep): boolean {
    const { step } = past;
    switch (step.kind) {
      case 'put':
        return step.before === undefined ? this.#unput(past) : this.#putBack(past, step.path, step.before);
      case 'remove':
      case 'unmake':
        return step.before !== undefined && this.#putBack(past, step.path, step.before);
      case 'make':
        return this.#unmake(past);
      case 'move':
        return this.#moveBack(past);
      case 'append':
        return this.#cut(past);
      case 'truncate':
        return this.#extend(past);
    }
  }

  /** Takes away what was put where nothing was. */
  #unput(past: PastStep): boolean {
    const { path } = past.step;
    if (!this.#isAllowed(path)) return false;
    const there = this.#asLeft(past, path);
    if (there !== undefined) this.#take(path, there, { keep: this.#placeFor(past) });
    return true;
  }

  #unmake(past: PastStep): boolean {
    const { path } = past.step;
    if (!this.#isAllowed(path)) return false;
    const there = this.#asLeft(past, path);
    if (there === undefined) return true;
    if (there.type === 'directory' && there.names().length > 0) this.#conflict('not_empty', path);
    this.#take(path, there, { keep: this.#placeFor(past) });
    return true;
  }

  /** Puts back what was replaced or removed. */
  #putBack(past: PastStep, path: string, before: EntryState): boolean {
    if (!this.#isAllowed(path) || !this.#hasFolder(path)) return false;
    const source = this.#source(past, before);
    if (source === undefined) return false;
    const there = past.step.kind === 'put' ? this.#asLeft(past, path) : this.#vacant(path);
    this.#bring(path, there, { source, keep: this.#placeFor(past), mode: before });
    return true;
  }

  #moveBack(past: PastStep): boolean {
    const { path, to = '', replaced } = past.step;
    if (!this.#isAllowed(path) || !this.#isAllowed(to) || !this.#hasFolder(path)) return false;
    const source = replaced && this.#source(past, replaced);
    const moved = this.#asLeft(past, to);
    if (moved === undefined || (replaced !== undefined && source === undefined)) return false;
    const inTheWay = this.#vacant(path);
    if (inTheWay !== undefined) this.#take(path, inTheWay, { completes: false });
    const state = stateOfNode(moved);
    this.#act('move', to, { to: path, before: state, after: state, completes: source === undefined });
    if (source !== undefined) this.#bring(to, undefined, { source, keep: OWN_PLACE, mode: replaced });
    return true;
  }

  #cut(past: PastStep): boolean {
    const { path, before } = past.step;
    if (!this.#isAllowed(path)) return false;
    const there = this.#asLeft(past, path);
    if (there === undefined || before === undefined || there.ino !== before.ino || there.size < before.size)
      return false;
    const was = stateOfNode(there);
    const { size, mtimeMs, mode } = before;
    this.#act('cut', path, { before: was, after: { ...was, size, mtimeMs, mode }, keep: this.#placeFor(past) });
    return true;
  }

  #extend(past: PastStep): boolean {
    const { path, before, kept } = past.step;
    if (!this.#isAllowed(path)) return false;
    const there = this.#asLeft(past, path);
    if (before === undefined || kept === undefined) return false;
    if (this.#tree.keptAt(kept) === undefined) {
      this.#conflict('kept_is_gone', path);
      return false;
    }
    if (there === undefined || this.#conflicting) return false;
    const was = stateOfNode(there);
    const { size, mtimeMs, mode } = before;
    this.#act('extend', path, { before: was, after: { ...was, size, mtimeMs, mode }, from: kept });
    return true;
  }

  /** Plans to bring a kept entry to a path, or to make the empty folder again that was there. */
  #bring(
    path: string,
    there: PastNode | undefined,
    { source, keep, mode }: { source: Source | 'empty'; keep: string; mode: EntryState | undefined },
  ): void {
    const isFolder = source === 'empty' || source.node.type === 'directory' || there?.type === 'directory';
    if (there !== undefined && isFolder) this.#take(path, there, { completes: false });
    const before = there && !isFolder ? stateOfNode(there) : undefined;
    if (source === 'empty') this.#act('make', path, { before, after: mode });
    else {
      const after = stateOfNode(source.node);
      const kept = before && (this.#conflicting ? OWN_PLACE : keep);
      this.#act(before ? 'revert' : 'restore', path, { before, after, from: source.place, keep: kept });
    }
  }

  #take(path: string, there: PastNode, { keep = OWN_PLACE, completes = true }: Details): void {
    this.#act('remove', path, { before: stateOfNode(there), keep: this.#conflicting ? OWN_PLACE : keep, completes });
  }

  #act(effect: UndoEffect, path: string, { before, after, completes = true, ...rest }: Details): void {
    const { step } = this.#step;
    this.actions.push({ effect, undoes: step, completes, path, before, after, forced: this.#conflicting, ...rest });
  }

  /** Returns what is kept of what a step replaced, `empty` for a folder that can be made again. */
  #source(past: PastStep, before: EntryState): Source | 'empty' | undefined {
    const { kept: place, unkept, path, to } = past.step;
    const at = to ?? path;
    if (place === undefined && before.type === 'directory') return 'empty';
    if (place === undefined || unkept !== undefined) {
      this.#conflict('not_kept', at);
      return undefined;
    }
    const node = this.#tree.keptAt(place);
    if (node === undefined) {
      this.#conflict('kept_is_gone', at);
      return undefined;
    }
    if (!this.kept.isUnchanged(past, place, node)) this.#conflict('kept_was_changed', at);
    return { place, node };
  }

  /** Returns what is at a path, and notes a conflict unless it is as the step left it. */
  #asLeft(past: PastStep, path: string): PastNode | undefined {
    const there = this.#tree.find(path);
    if (there === undefined) this.#conflict('missing', path);
    else if (!isAsLeft(past, there, this.#remade)) this.#conflict('changed_since', path);
    else if (past.step.kind === 'put' && there.type === 'directory') this.#checkInside(past, path, there);
    return there;
  }

  /** Notes a conflict if something in a folder that was put there as a whole was changed since. */
  #checkInside(past: PastStep, path: string, folder: PastNode): void {
    for (const newer of this.#newer.paths()) {
      if (newer !== path && isAtOrBelow(newer, path)) this.#conflict('changed_since', newer);
    }
    const time = past.done?.after?.ctimeMs;
    if (this.#conflicting || time === undefined) return;
    const changed = this.kept.changedInside(folder, time, { byContent: true });
    if (changed !== undefined) this.#conflict('changed_since', `${path}/${changed}`);
  }

  /** Returns what is at a path, and notes a conflict if there is anything. */
  #vacant(path: string): PastNode | undefined {
    const there = this.#tree.find(path);
    if (there !== undefined) this.#conflict('in_the_way', path);
    return there;
  }

  #hasFolder(path: string): boolean {
    const has = this.#tree.find(splitPath(path)[0])?.type === 'directory';
    if (!has) this.#conflict('no_folder', path);
    return has;
  }

  #isAllowed(path: string): boolean {
    if (this.#root === this.#history.root) return true;
    const entry = this.#tree.find(path) ?? this.#step.step.before;
    const isFolder = entry?.type === 'directory';
    const refused = this.#root.explain({ raw: path, segments: namesOf(path) }, isFolder) !== undefined;
    if (refused) this.#conflict('not_allowed', path);
    return !refused;
  }

  /** Names the place for what a step put there: where it came from, so that the step that it took back finds it. */
  #placeFor({ step: { from } }: PastStep): string {
    return from !== undefined && this.#history.kept.hasFolderOf(from) ? from : OWN_PLACE;
  }

  #conflict(reason: ConflictReason, path: string): void {
    this.#conflicting = true;
    this.conflicts.push({ reason, path, change: this.#step.step.change, newer: this.#newer.changeAt(path) });
  }
}

/** Reports whether an entry is as a step left it. */
function isAsLeft({ step, done }: PastStep, { inode }: PastNode, remade: RemadeFolders): boolean {
  const left = done?.after ?? (step.kind === 'move' ? step.before : step.after);
  if (step.kind === 'make') {
    const ino = inode.ino === NOT_MADE_YET ? undefined : done?.after?.ino;
    return inode.type === 'directory' && remade.is(inode.ino, ino ?? inode.ino);
  }
  if (left === undefined) return inode.ino === step.before?.ino;
  // A folder that an undo will make again has no number yet.
  if (inode.type === 'directory' && inode.ino === NOT_MADE_YET) return left.type === 'directory';
  // Without a mark, its process was killed, and the times are not known.
  return done === undefined ? inode.ino === left.ino && inode.size === left.size : isSameEntry(left, inode);
}
